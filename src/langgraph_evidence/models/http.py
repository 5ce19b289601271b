"""One JSON request to a model server, with failures as `ModelError`."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langgraph_evidence.errors import InvalidInput, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST_REPLY = 64_000_000
_OVERLOADED, _SERVER_FAULT = 429, 500


def post_json(url: str, payload: Mapping[str, Any], *, key: str | None = None, seconds: float = 60.0) -> Any:
    """Posts JSON and reads JSON.

    Args:
        url: An http or https address.
        payload: What is sent.
        key: A bearer token.
        seconds: How long it may take.

    Raises:
        InvalidInput: The address is not http or https.
        ModelError: The server cannot be reached, refuses, or answers no JSON.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InvalidInput(f"The server's address {url!r} must begin with http:// or https://.")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, json.dumps(payload).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as reply:
            return json.loads(reply.read(_LARGEST_REPLY))
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(500).decode("utf-8", "replace")
        transient = error.code == _OVERLOADED or error.code >= _SERVER_FAULT
        raise ModelError(
            f"The server at {url} answered {error.code}: {said}", status=error.code, transient=transient
        ) from error
    except OSError as error:
        raise ModelError(
            f"The server at {url} cannot be reached ({error}). Check the address and that it runs.", transient=True
        ) from error
    except ValueError as error:
        raise ModelError(f"The server at {url} answered something that is not JSON ({error}).") from error
