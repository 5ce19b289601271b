"""What every client means by a failure that may pass: the same call, sent again later, may succeed."""

from __future__ import annotations

TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses of a server that is busy, starting or cut off; 529 is Anthropic's "overloaded"."""

# Clients share no base class; the names are what they have in common. httpx calls all of its own a TransportError.
_TRANSIENT_NAMES = frozenset({
    "ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "APITimeoutError", "RemoteProtocolError",
    # An HTTP 200 whose body is no reply.
    "BadBody", "JSONDecodeError", "APIResponseValidationError",
})  # fmt: skip


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, itself or in its response; None where it carries none."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later: by its status where there is one, else by the kind of failure."""
    status = status_of(error)
    if status is not None:
        # A request that was served failed in the reading of its body.
        return status in TRANSIENT_STATUS or 200 <= status < 300
    return any(kind.__name__ in _TRANSIENT_NAMES for kind in type(error).__mro__)


def retry_after(error: BaseException | None) -> float | None:
    """The seconds that a server asks to be left alone; None where it asks for nothing."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
