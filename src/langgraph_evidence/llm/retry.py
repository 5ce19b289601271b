"""What a failed call means: whether the same call may succeed later, when, and what the caller should do."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from langgraph.errors import GraphBubbleUp

from langgraph_evidence.errors import EvidenceError, InvalidInput, ModelError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langgraph_evidence.llm.limiter import Slots

T = TypeVar("T")

_TRANSIENT_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504})
# Providers' clients share no base class; the names are what they have in common.
_TRANSIENT_NAMES = frozenset({
    "ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "APITimeoutError", "RemoteProtocolError",
})  # fmt: skip
_ADVICE = {
    400: "The server refused the request: check the model's name, its parameters and the length of the prompt.",
    401: "The server refused the API key: set the provider's key variable or pass a valid key to the chat model.",
    403: "This key may not use this model: choose another model or ask for access.",
    404: "The server knows no such model or path: check the model's name and the base_url.",
    408: "The server gave up waiting: try again later.",
    422: "The server could not read the request: check the parameters that the model is called with.",
    429: "The server's rate limit or quota is spent: lower max_concurrency, wait, or raise the quota.",
}
_KEY = re.compile(r"(?i)\b(?:bearer\s+\S+|(?:sk|pk|api|key|gsk|hf|xai)[-_][\w*.-]{6,})")
_DETAIL = 300


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long one call is tried.

    Args:
        attempts: Tries of one call, the first included.
        timeout: Seconds that one try may take; None waits for ever.
        first_wait: Seconds before the second try; the wait doubles with each try and is jittered by half.
        longest_wait: The most seconds between two tries, a server's Retry-After included.

    Raises:
        InvalidInput: Fewer than one attempt, or a time-out that is not positive.
    """

    attempts: int = 4
    timeout: float | None = 120.0
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InvalidInput(f"A language model was given attempts={self.attempts}; it takes at least 1.")
        if self.timeout is not None and not self.timeout > 0:
            raise InvalidInput(f"A language model was given timeout={self.timeout}; it takes seconds above 0, or None.")

    async def run(
        self, call: Callable[[], Awaitable[T]], *, model: str, slots: Slots, seconds: float | None = None
    ) -> T:
        """Awaits `call()` in a slot until it succeeds, fails for good, or the tries or `seconds` are used up.

        Waiting for a slot counts against `seconds`, not against the call's own time-out.

        Raises:
            ModelError: What happened, with the model's name and what to do.
        """
        try:
            async with asyncio.timeout(seconds) as whole:
                return await self._tries(call, model=model, slots=slots)
        except TimeoutError as error:
            if not whole.expired():
                raise
            raise ModelError(
                f"{model} did not reply within the {seconds:.3g} s that were left: give the run more time.",
                transient=True,
            ) from error

    async def _tries(self, call: Callable[[], Awaitable[T]], *, model: str, slots: Slots) -> T:
        for attempt in itertools.count(1):
            try:
                async with slots, asyncio.timeout(self.timeout):
                    return await call()
            except (GraphBubbleUp, EvidenceError):
                raise
            except Exception as error:
                failure = describe_failure(error, model=model, limit=self.timeout, attempt=attempt)
                if not failure.transient or attempt == self.attempts:
                    raise failure from error
                wait = self._wait(attempt, error)
            await asyncio.sleep(wait)
        raise AssertionError

    def _wait(self, attempt: int, error: Exception) -> float:
        asked = _retry_after(error)
        backoff = self.first_wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)
        return float(min(asked if asked is not None else backoff, self.longest_wait))


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(float(headers.get("retry-after", "")), 0.0)
    except (TypeError, ValueError):
        return None


def _is_transient(error: Exception, status: int | None) -> bool:
    if status is not None:
        return status in _TRANSIENT_STATUS
    return any(kind.__name__ in _TRANSIENT_NAMES for kind in type(error).__mro__)


def describe_failure(error: Exception, *, model: str, limit: float | None, attempt: int) -> ModelError:
    """Turns a provider's exception into an error that names the model and says what to do, and never shows a key."""
    status = _status(error)
    transient = _is_transient(error, status)
    if status in {401, 403}:
        # Some servers repeat the key in what they say about it.
        what = f"HTTP {status}"
    elif isinstance(error, TimeoutError):
        what = f"no reply within {limit:.3g} s" if limit is not None else "no reply in time"
    else:
        detail = _KEY.sub("***", " ".join(str(error).split()))[:_DETAIL].rstrip(".")
        what = f"{f'HTTP {status}' if status else type(error).__name__}: {detail}"
    advice = _ADVICE.get(status or 0, "")
    if not advice and transient:
        advice = "Check that the server runs and can be reached, or give the call more time."
    tries = f" after {attempt} tries" if attempt > 1 else ""
    return ModelError(f"{model} failed{tries}: {what}. {advice}".rstrip(), status=status, transient=transient)
