"""Trying a call again: while it may succeed, inside what may be spent; and what its failure tells the caller to do."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from langgraph.errors import GraphBubbleUp
from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

from langgraph_evidence.budget import UNLIMITED
from langgraph_evidence.errors import EvidenceError, InvalidInput, ModelError, OutOfBudget, OutOfCalls, OutOfTime
from langgraph_evidence.retrying import is_transient, retry_after, status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

    from langgraph_evidence.budget import Allowance
    from langgraph_evidence.llm.limiter import Slots
    from langgraph_evidence.types import Usage

T = TypeVar("T")

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


class Spending:
    """Counts an allowance down; requests that are under way at the same time on one loop share it.

    Args:
        allowance: What may be spent.
        first_tries: Tries that are made whatever the allowance says; only what it grants beyond them can be taken.
    """

    def __init__(self, allowance: Allowance = UNLIMITED, *, first_tries: int = 1) -> None:
        self._started = time.monotonic()
        self._seconds = allowance.seconds
        self._spare = None if allowance.calls is None else max(allowance.calls - first_tries, 0)

    def seconds(self) -> float:
        """The time since it began."""
        return time.monotonic() - self._started

    def seconds_left(self) -> float | None:
        """The time that is left, or None without a limit."""
        return None if self._seconds is None else max(self._seconds - self.seconds(), 0.0)

    def take(self) -> bool:
        """Takes one more try, where calls and time are left for it."""
        if self._spare == 0 or self.seconds_left() == 0:
            return False
        self.give_back(-1)
        return True

    def is_spent(self) -> bool:
        """Whether no further try is left."""
        return self._spare == 0

    def give_back(self, tries: int = 1) -> None:
        """Returns a try that cost nothing, as one that a cache answered."""
        if self._spare is not None:
            self._spare += tries


class CallContext(NamedTuple):
    """What the tries of one request have in common.

    Args:
        model: Its name, for errors.
        slots: The limit on calls in flight.
        spending: What may still be spent; its first try is paid for.
        usage: The request's row, in which its tries are counted.
    """

    model: str
    slots: Slots
    spending: Spending
    usage: Usage


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long one call is tried.

    The loop, its end and the backoff are tenacity's; what passes, who waits how long and what is left are ours.

    Args:
        attempts: Tries of one call, the first included.
        timeout: Seconds that one try may take; None waits for ever.
        first_wait: Seconds before the second try on average; the wait doubles with each try and is fully jittered.
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

    async def run(self, call: Callable[[], Awaitable[T]], context: CallContext) -> T:
        """Awaits `call()` in a slot until it succeeds, fails for good, or tries, calls or seconds are used up.

        Waiting for a slot counts against the seconds left, not against the call's own time-out.

        Raises:
            ModelError: What happened, with the model's name and what to do.
            OutOfTime: The time left is used up, or would be before the next try.
            OutOfCalls: The calls left are used up.
        """
        left = context.spending.seconds_left()
        late = f"{context.model} did not reply within the {left or 0:.3g} s that were left: give the run more time."
        if left == 0:
            raise OutOfTime(late)
        try:
            async with asyncio.timeout(left) as whole:
                return await self._tries(call, context)
        except OutOfBudget:
            raise
        except ModelError as error:
            if error.transient and context.spending.is_spent():
                raise OutOfCalls(f"{error} No call was left for another try.") from error.__cause__
            raise
        except TimeoutError as error:
            if not whole.expired():
                raise
            raise OutOfTime(late) from error

    async def _tries(self, call: Callable[[], Awaitable[T]], context: CallContext) -> T:
        tries = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.transient),
            stop=partial(self._is_last, context=context),
            wait=self._wait,
            before_sleep=partial(_in_time, context=context),
            sleep=asyncio.sleep,
            reraise=True,
        )
        async for attempt in tries:
            with attempt:
                return await self._try(call, context, attempt.retry_state.attempt_number)
        raise AssertionError

    async def _try(self, call: Callable[[], Awaitable[T]], context: CallContext, attempt: int) -> T:
        try:
            async with context.slots, asyncio.timeout(self.timeout):
                context.usage["calls"] += 1
                return await call()
        except (GraphBubbleUp, EvidenceError):
            raise
        except Exception as error:
            raise describe_failure(error, model=context.model, limit=self.timeout, attempt=attempt) from error

    def _is_last(self, state: RetryCallState, *, context: CallContext) -> bool:
        return state.attempt_number >= self.attempts or (
            context.spending.seconds_left() != 0 and not context.spending.take()
        )

    def _wait(self, state: RetryCallState) -> float:
        _, asked = _failed(state)
        backoff = wait_random_exponential(multiplier=2 * self.first_wait, max=self.longest_wait)
        return backoff(state) if asked is None else min(asked, self.longest_wait)


def _failed(state: RetryCallState) -> tuple[BaseException | None, float | None]:
    """How the last try failed, and the seconds that the server asked to wait, in the provider's exception behind it."""
    failure = state.outcome.exception() if state.outcome else None
    return failure, retry_after(failure.__cause__) if failure else None


def _in_time(state: RetryCallState, *, context: CallContext) -> None:
    """Ends the call when what it would have to wait for comes too late.

    Raises:
        OutOfTime: So it is.
    """
    left, (failure, asked) = context.spending.seconds_left(), _failed(state)
    wait = state.upcoming_sleep if asked is None else max(asked, state.upcoming_sleep)
    if left is None or wait < left:
        return
    why = f"the next try would come in {wait:.3g} s" if asked is None else f"the server asked to wait {asked:.0f} s"
    late = f"{context.model}: {why}, more than the {left:.3g} s that were left. Give the run more time. Last: {failure}"
    raise OutOfTime(late) from failure


def describe_failure(error: Exception, *, model: str, limit: float | None, attempt: int) -> ModelError:
    """Turns a provider's exception into an error that names the model and says what to do, and never shows a key."""
    status = status_of(error)
    transient = is_transient(error)
    advice = _ADVICE.get(status or 0, "")
    if not advice and transient:
        advice = "Check that the server runs, can be reached and speaks the provider's protocol, or give it more time."
    tries = f" after {attempt} tries" if attempt > 1 else ""
    what = _what_happened(error, status, limit)
    return ModelError(f"{model} failed{tries}: {what}. {advice}".rstrip(), status=status, transient=transient)


def _what_happened(error: Exception, status: int | None, limit: float | None) -> str:
    if status in {401, 403}:
        # Some servers repeat the key in what they say about it.
        return f"HTTP {status}"
    if isinstance(error, TimeoutError):
        return f"no reply within {limit:.3g} s" if limit is not None else "no reply in time"
    detail = _KEY.sub("***", " ".join(str(error).split()))[:_DETAIL].rstrip(".")
    kind = f"HTTP {status}" if status else type(error).__name__
    return f"{kind}: {detail}"
