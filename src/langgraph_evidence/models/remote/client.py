"""One JSON request to a model server, with failures as `ModelError`."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import tenacity

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.retrying import TRANSIENT_STATUS, is_transient

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LARGEST_REPLY = 64_000_000
_SHOWN = 500
_PAUSE = 0.25
# Uncompressed, so that the size of what is read is known before it is read.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


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
    deadline = time.monotonic() + seconds
    again = tenacity.Retrying(
        retry=tenacity.retry_if_exception(lambda error: isinstance(error, ModelError) and error.transient),
        wait=tenacity.wait_exponential(multiplier=_PAUSE),
        stop=tenacity.stop_after_attempt(attempts) | tenacity.stop_before_delay(seconds),
        reraise=True,
    )
    body: bytes = again(_ask, url, json.dumps(payload).encode(), key, deadline)
    return _parse(url, body)


def _ask(url: str, content: bytes, key: str | None, deadline: float) -> bytes:
    headers = _HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})
    left = max(deadline - time.monotonic(), 0.001)
    try:
        # httpx follows no redirect unless asked: it would carry the texts and the key to another place.
        with httpx.stream("POST", url, content=content, headers=headers, timeout=left) as reply:
            if not reply.is_success:
                said = next(reply.iter_raw(_SHOWN), b"").decode("utf-8", "replace")
                status = reply.status_code
                raise ModelError(
                    f"The server at {url} answered {status}: {said}",
                    status=status,
                    transient=status in TRANSIENT_STATUS,
                )
            return _body(url, reply, deadline)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = "timed out" if isinstance(error, httpx.TimeoutException) else str(error)
        raise ModelError(
            f"The server at {url} cannot be reached ({said}). Check the address and that it runs.",
            transient=is_transient(error),
        ) from error


def _body(url: str, reply: httpx.Response, deadline: float) -> bytes:
    """The whole body; a server that only ever sends a little more is not waited for."""
    parts, size = [], 0
    for part in reply.iter_raw():
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
