"""The HTTP client of tools: public addresses only, checked after resolution and at every redirect, bounded throughout.

A name is resolved once a hop, all its addresses are judged, and the connection goes to one of those very addresses, so
that a second answer of the name server (DNS rebinding) is never asked for.
"""

from __future__ import annotations

import asyncio
import random
import re
import ssl
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import h11

from langgraph_evidence.errors import InvalidInput, ToolError
from langgraph_evidence.retrying import TRANSIENT_STATUS
from langgraph_evidence.tools.addresses import AllowList, refusal
from langgraph_evidence.tools.urls import PORTS, join
from langgraph_evidence.tools.wire import Network, Request, Response, exchange

if TYPE_CHECKING:
    from langgraph_evidence.tools.addresses import Address
    from langgraph_evidence.tools.urls import Url

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNTOUCHED = frozenset({425, 429})
_ADVICE = {
    401: "check the key that its static_params refer to",
    403: "check the key that its static_params refer to",
    404: "check the URL and the arguments",
    429: "its rate limit is spent: wait",
}
_SHOWN = 80
_CHARSETS = frozenset({"utf-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16"})


@dataclass(frozen=True)
class Limits:
    """What one call may take.

    Args:
        connect: Seconds to connect to one address.
        read: Seconds without a byte.
        total: Seconds of the whole call, with its redirects, its retries and the waits between them.
        redirects: Redirects followed.
        attempts: Tries, the first included.
        first_wait: Seconds before the second try; doubled with each, jittered by half.
        bytes: Bytes read of a reply.
        characters: Characters of a reply that the model sees (REBEL, section 3.5).

    Raises:
        InvalidInput: A limit is not positive.
    """

    connect: float = 5.0
    read: float = 10.0
    total: float = 30.0
    redirects: int = 5
    attempts: int = 3
    first_wait: float = 0.5
    bytes: int = 1_000_000
    characters: int = 15_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0 and not (value == 0 and name in {"redirects", "first_wait"}):
                raise InvalidInput(f"The limit {name!r} was given {value!r}; it takes a number above 0.")


@dataclass(frozen=True)
class HttpReply:
    """A service's reply as text; `cut` says that there was more."""

    status: int
    text: str
    cut: bool


class ServiceError(ToolError):
    """A failure with what the client knows of it.

    `untouched` says that the service cannot have acted on the request, `wait` is how many seconds it asked for,
    `detail` its reply.
    """

    untouched = False
    wait: float | None = None
    detail = ""


class HttpClient:
    """Sends requests that the address rules allow.

    Args:
        allow: What inside may be reached although it is not public.
        limits: What one call may take.
        network: Names and connections.
    """

    def __init__(
        self, *, allow: AllowList | None = None, limits: Limits | None = None, network: Network | None = None
    ) -> None:
        self.limits = limits or Limits()
        self._allow = allow or AllowList()
        self._network = network or Network()

    async def fetch(self, request: Request, *, repeatable: bool, confidential: bool = False) -> HttpReply:
        """The reply to a request, its redirects followed; a transient failure is tried again.

        Args:
            request: What is sent.
            repeatable: Whether sending it twice does no harm; if not, it is only repeated when it was never received.
            confidential: Whether it holds a secret, which goes over https, or to an allowed host, alone.

        Raises:
            ToolError: An address or a redirect is refused, or the service failed.
        """
        try:
            async with asyncio.timeout(self.limits.total):
                return await self._tries(request, repeatable=repeatable, confidential=confidential)
        except TimeoutError:
            raise ToolError(
                f"{request.url.host} gave no reply within {self.limits.total:g} s.", transient=True
            ) from None

    # By hand and not by tenacity: whether to try again and how long to wait are both told by the error.
    async def _tries(self, request: Request, *, repeatable: bool, confidential: bool) -> HttpReply:
        for attempt in range(1, self.limits.attempts + 1):
            try:
                return await self._follow(request, confidential=confidential)
            except ServiceError as error:
                again = error.transient and (repeatable or error.untouched)
                if not again or attempt == self.limits.attempts:
                    raise
                wait = error.wait
            if wait is None:
                wait = self.limits.first_wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
            await asyncio.sleep(wait)
        raise AssertionError

    async def _follow(self, request: Request, *, confidential: bool) -> HttpReply:
        ports = {*PORTS.values(), request.url.port}
        for hop in range(self.limits.redirects + 1):
            try:
                response = await self._once(request, ports, confidential=confidential)
                if response.status not in _REDIRECTS:
                    return _read(request.url, response)
            except ServiceError as error:
                # Behind a redirect, the service that sent it may have acted already.
                error.untouched = error.untouched and hop == 0
                raise
            request = _redirected(request, response)
        raise ToolError(f"{request.url.host} redirects more than {self.limits.redirects} times.")

    async def _once(self, request: Request, ports: set[int], *, confidential: bool) -> Response:
        url = request.url
        addresses = await self._addresses(url, ports, confidential=confidential)
        streams = await self._connect(url, addresses)
        try:
            return await exchange(request, streams, wait=self.limits.read, most_bytes=self.limits.bytes)
        except TimeoutError:
            raise ServiceError(f"{url.host} sent nothing for {self.limits.read:g} s.", transient=True) from None
        except OSError as error:
            word = type(error).__name__
            raise ServiceError(f"The connection to {url.host} broke ({word}).", transient=True) from None
        except h11.ProtocolError:
            raise ServiceError(f"What {url.host} sent is not an HTTP response.", transient=True) from None

    async def _addresses(self, url: Url, ports: set[int], *, confidential: bool) -> list[Address]:
        """The addresses to connect to, every one of them judged."""
        found = [url.address] if url.address is not None else await self._resolve(url)
        outside = [address for address in found if not self._allow.permits(url.host, url.port, address)]
        for address in outside:
            word = refusal(address)
            if word is not None:
                raise ToolError(f"{url.host} is refused: its address {address} is {word}. Allow the host to reach it.")
        if outside and url.port not in ports:
            raise ToolError(f"{url.host} is refused on port {url.port}; a redirect may lead to {_words(ports)}.")
        if outside and confidential and url.scheme != "https":
            raise ToolError(f"A secret is not sent to {url.host} in the clear; write the tool's URL with https.")
        return [address for address in found if address is not None]

    async def _resolve(self, url: Url) -> list[Address]:
        try:
            async with asyncio.timeout(self.limits.connect):
                found = await self._network.resolve(url.host, url.port)
        except (OSError, UnicodeError):  # a time-out is an OSError
            found = []
        if not found:
            raise _unreached(f"The name {url.host} leads to no address.", transient=True)
        return found

    async def _connect(self, url: Url, addresses: list[Address]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        server_name = url.host if url.scheme == "https" else None
        failed: OSError | None = None
        for address in addresses:
            try:
                async with asyncio.timeout(self.limits.connect):
                    return await self._network.connect(address, url.port, server_name=server_name)
            except OSError as error:
                failed = error
        raise _unreached(
            f"{url.host} cannot be reached on port {url.port} ({type(failed).__name__}).",
            transient=not isinstance(failed, ssl.SSLCertVerificationError),
        )


def _unreached(message: str, *, transient: bool) -> ServiceError:
    error = ServiceError(message, transient=transient)
    error.untouched = True
    return error


def _words(ports: set[int]) -> str:
    return " or ".join(str(port) for port in sorted(ports))


def _redirected(request: Request, response: Response) -> Request:
    """The request that a redirect asks for.

    Raises:
        ToolError: It leads nowhere, back to http, or would carry a body to another origin.
    """
    location = response.headers.get("location")
    if not location:
        raise ToolError(f"{request.url.host} redirects ({response.status}) without saying where.")
    url = join(request.url, location)
    if request.url.scheme == "https" and url.scheme != "https":
        raise ToolError(f"{request.url.host} redirects from https to http, which is refused.")
    if request.method == "GET" or response.status in {301, 302, 303}:
        return Request("GET", url)
    if url.origin != request.url.origin:
        raise ToolError(f"{request.url.host} redirects a POST to another host, which is refused.")
    return replace(request, url=url)


def _read(url: Url, response: Response) -> HttpReply:
    """The reply as text.

    Raises:
        ToolError: A status of failure, or a body that is neither JSON nor text.
    """
    if not 200 <= response.status < 300:
        raise _failure(url, response)
    kind, _, parameters = response.headers.get("content-type", "").lower().partition(";")
    if response.body and not _readable(kind):
        # Never cut: a secret in it must stay whole to be found and taken out.
        told = repr(kind) if 0 < len(kind) <= _SHOWN else "no usable content type"
        raise ToolError(f"{url.host} replied with {told}; tools read JSON or text.")
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise ToolError(f"{url.host} replied compressed although it was asked not to.")
    return HttpReply(response.status, _decode(response.body, parameters), response.cut)


def _readable(kind: str) -> bool:
    return re.fullmatch(r"\s*(?:text/[\w.+-]+|application/(?:[\w.-]+\+)?json)\s*", kind) is not None


def _decode(body: bytes, parameters: str) -> str:
    found = re.search(r"charset=\"?([\w-]+)", parameters)
    charset = found[1] if found and found[1] in _CHARSETS else "utf-8"
    return body.decode(charset, errors="replace")


def _failure(url: Url, response: Response) -> ServiceError:
    status = response.status
    advice = f"; {_ADVICE[status]}" if status in _ADVICE else ""
    error = ServiceError(
        f"{url.host} replied with status {status}{advice}.", status=status, transient=status in TRANSIENT_STATUS
    )
    error.untouched = status in _UNTOUCHED
    if re.fullmatch(r"[0-9]{1,4}", response.headers.get("retry-after", "")):
        error.wait = float(response.headers["retry-after"])
    kind, _, parameters = response.headers.get("content-type", "").lower().partition(";")
    if _readable(kind):
        error.detail = _decode(response.body, parameters)
    return error
