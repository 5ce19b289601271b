"""One JSON request to a model server, with failures as `ModelError`."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langgraph_evidence.errors import InvalidInput, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPResponse
    from pathlib import Path

_LARGEST_REPLY = 64_000_000
_CHUNK = 65_536
_OVERLOADED, _SERVER_FAULT = 429, 500
_PAUSE = 0.25


def is_url(source: str | Path | None) -> bool:
    """Whether a model's source is the address of a server."""
    return isinstance(source, str) and source.startswith(("http://", "https://"))


def post_json(
    url: str, payload: Mapping[str, Any], *, key: str | None = None, seconds: float = 60.0, attempts: int = 3
) -> Any:
    """Posts JSON and reads JSON; what may succeed later is tried again, after a pause that doubles.

    Args:
        url: An http or https address; it is not left for another that the server redirects to.
        payload: What is sent.
        key: A bearer token.
        seconds: How long it may take, all attempts together.
        attempts: How often it is tried.

    Raises:
        InvalidInput: The address is not http or https.
        ModelError: The server cannot be reached, refuses, takes too long, or answers no JSON or too much.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InvalidInput(f"The server's address {url!r} must begin with http:// or https://.")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, json.dumps(payload).encode(), headers)
    deadline, pause = time.monotonic() + seconds, _PAUSE
    while True:
        attempts -= 1
        try:
            return _parse(url, _ask(request, deadline))
        except ModelError as error:
            if not error.transient or attempts < 1 or time.monotonic() + pause >= deadline:
                raise
        time.sleep(pause)
        pause *= 2


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the texts and the key to another place than the one that was given."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        """Follows none, so that the reply is an error as any other status is."""


def _ask(request: urllib.request.Request, deadline: float) -> bytes:
    url = request.full_url
    try:
        left = max(deadline - time.monotonic(), 0.001)
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=left) as reply:
            return _body(url, reply, deadline)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(500).decode("utf-8", "replace")
        transient = error.code == _OVERLOADED or error.code >= _SERVER_FAULT
        raise ModelError(
            f"The server at {url} answered {error.code}: {said}", status=error.code, transient=transient
        ) from error
    except (OSError, HTTPException) as error:
        raise ModelError(
            f"The server at {url} cannot be reached ({error}). Check the address and that it runs.", transient=True
        ) from error


def _body(url: str, reply: HTTPResponse, deadline: float) -> bytes:
    """The whole body; a server that only ever sends a little more is not waited for."""
    parts, size = [], 0
    while part := reply.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > _LARGEST_REPLY:
            raise ModelError(f"The server at {url} answered more than {_LARGEST_REPLY} bytes.")
        if time.monotonic() > deadline:
            raise ModelError(f"The server at {url} timed out in the middle of its answer.", transient=True)
    return b"".join(parts)


def _parse(url: str, body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"The server at {url} answered something that is not JSON ({error}).") from error
