"""A declarative tool as a LangChain tool: arguments checked, one request, the reply as text."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import ToolError
from langgraph_evidence.tools.addresses import AllowList
from langgraph_evidence.tools.declarative import EnvironmentReference, ToolSpec
from langgraph_evidence.tools.http import HttpClient, ServiceError
from langgraph_evidence.tools.parameters import read_arguments, schema
from langgraph_evidence.tools.secrets import Vault
from langgraph_evidence.tools.urls import PLACEHOLDER, fill, parse_url, with_query
from langgraph_evidence.tools.wire import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from langgraph_evidence.tools.http import HttpReply, Limits
    from langgraph_evidence.tools.wire import Network

CUT = " [cut]"
# The statuses with which a service says that it does not understand what it was asked.
_ARGUMENTS = frozenset({400, 404, 422})
_EXCERPT = 300


class HttpTool(BaseTool):
    """One request a call. What a call is given, sends and receives holds no secret that its spec refers to.

    Args:
        spec: The tool.
        client: What sends the requests.
        vault: Where the secrets are.
    """

    _spec: ToolSpec = PrivateAttr()
    _client: HttpClient = PrivateAttr()
    _vault: Vault = PrivateAttr()

    def __init__(self, spec: ToolSpec, client: HttpClient, vault: Vault) -> None:
        super().__init__(
            name=spec.name,
            description=spec.description,
            args_schema=schema(spec.dynamic_params),
            metadata=None if spec.idempotent else {"idempotent": False},
            handle_tool_error=True,
        )
        self._spec, self._client, self._vault = spec, client, vault

    # Positional-only, so that a parameter of any name can be passed.
    def _run(self, /, **kwargs: Any) -> str:
        return run_sync(self._call(kwargs))

    async def _arun(self, /, **kwargs: Any) -> str:
        return await self._call(kwargs)

    async def _call(self, given: Mapping[str, Any]) -> str:
        spec = self._spec
        arguments = read_arguments(spec.dynamic_params, given)
        try:
            request = self._request(arguments)
            reply = await self._client.fetch(request, repeatable=spec.idempotent, confidential=bool(spec.secrets))
        except ToolError as error:
            self._fail(error)
        return self._shown(reply)

    def _request(self, arguments: Mapping[str, Any]) -> Request:
        """The request of a call.

        Raises:
            ToolException: A value cannot stand in a URL.
            ToolError: A secret is missing.
        """
        spec = self._spec
        places = set(PLACEHOLDER.findall(spec.url))
        static = {
            name: self._vault.get(value.name) if isinstance(value, EnvironmentReference) else value
            for name, value in spec.static_params.items()
        }
        values = {**static, **arguments}
        rest = {name: value for name, value in values.items() if name not in places}
        written = {name: _written(name, value) for name, value in values.items() if name in places}
        url = fill(spec.url, written)
        if spec.method == "POST":
            return Request("POST", parse_url(url), json.dumps(rest, ensure_ascii=False).encode())
        return Request("GET", parse_url(with_query(url, {name: _written(name, value) for name, value in rest.items()})))

    def _fail(self, error: ToolError) -> NoReturn:
        """Raises the failure anew, without its secrets and without what it came from."""
        names = self._spec.secrets
        message = f"The tool {self.name!r} failed: {self._vault.redact(str(error), names)}"
        if error.status in _ARGUMENTS:
            detail = error.detail if isinstance(error, ServiceError) else ""
            told = " ".join(self._vault.redact(detail, names, cut=True).split())[:_EXCERPT]
            raise ToolException(f"{message} It says: {told}" if told else message) from None
        raise ToolError(message, status=error.status, transient=error.transient) from None

    def _shown(self, reply: HttpReply) -> str:
        text = self._vault.redact(reply.text, self._spec.secrets, cut=reply.cut).strip()
        most = self._client.limits.characters
        if reply.cut or len(text) > most:
            return text[: most - len(CUT)] + CUT
        return text or "The service replied with nothing."


def _written(name: str, value: Any) -> str:
    """A value as it stands in a URL.

    Raises:
        ToolException: It holds a control character, or would be a step up the path.
    """
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if any(unicodedata.category(letter) == "Cc" for letter in text) or text in {".", ".."}:
        raise ToolException(
            f"The parameter {name!r} holds a control character, such as an end of line, or is '.' or '..'; "
            "give a plain text."
        )
    return text


def http_tool(
    spec: ToolSpec,
    *,
    environment: Mapping[str, str],
    allow: Iterable[str] = (),
    limits: Limits | None = None,
    network: Network | None = None,
) -> BaseTool:
    """Makes a tool of its five fields.

    What other arguments could mend is told to the model that calls it; any other failure is a `ToolError`. The tool's
    `metadata` says with `{"idempotent": False}` when it must not be called twice for one purpose.

    Args:
        spec: The tool.
        environment: Where the secrets it refers to are looked up at each request, e.g. `os.environ`.
        allow: Hosts and networks inside that it may reach (`AllowList`).
        limits: What one call may take.
        network: Names and connections.

    Raises:
        InvalidInput: An entry of `allow` is malformed.
    """
    return HttpTool(spec, HttpClient(allow=AllowList(allow), limits=limits, network=network), Vault(environment))
