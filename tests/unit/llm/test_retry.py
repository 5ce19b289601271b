"""Only passing failures are tried again, and every failure says which model, what happened and what to do."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import openai
import pytest
from langgraph.errors import GraphInterrupt

from langgraph_evidence.budget import Allowance
from langgraph_evidence.errors import InvalidInput, ModelError, OutOfTime, ResourceError
from langgraph_evidence.llm.limiter import Slots
from langgraph_evidence.llm.retry import CallContext, RetryPolicy, Spending, describe_failure
from langgraph_evidence.llm.scripts import Fault
from langgraph_evidence.types import no_usage

REQUEST: Any = httpx.Request("POST", "http://x.invalid")
QUICK = RetryPolicy(attempts=3, timeout=5, first_wait=0.01)


class _Script:
    """Raises what it is given, one after another, then returns ok."""

    def __init__(self, *failures: BaseException | None) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        return "ok"


async def run(script: Any, policy: Any = QUICK, seconds: Any = None) -> Any:
    return await policy.run(script, CallContext("M 'm'", Slots(1), Spending(Allowance(seconds=seconds)), no_usage()))


def status(code: Any, retry_after: Any = None) -> Any:
    return Fault(status=code, retry_after=retry_after).failure()


@pytest.mark.parametrize(
    "failure",
    [
        *(status(code) for code in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
        TimeoutError(),
        ConnectionResetError("gone"),
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("refused"),
        openai.APIConnectionError(request=REQUEST),
        openai.APITimeoutError(request=REQUEST),
    ],
    ids=repr,
)
async def test_passing_failures_are_tried_again(failure: Any) -> None:
    script = _Script(failure)
    assert await run(script) == "ok"
    assert script.calls == 2


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
async def test_lasting_failures_are_not(code: Any) -> None:
    script = _Script(status(code))
    with pytest.raises(ModelError, match=f"M 'm' failed: HTTP {code}") as caught:
        await run(script)
    assert (caught.value.status, caught.value.transient, script.calls) == (code, False, 1)


async def test_a_programming_error_is_not_tried_again() -> None:
    script = _Script(ZeroDivisionError("zero"))
    with pytest.raises(ModelError, match="ZeroDivisionError: zero") as caught:
        await run(script)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert script.calls == 1


async def test_gives_up_after_the_attempts() -> None:
    script = _Script(*(status(503) for _ in range(9)))
    with pytest.raises(ModelError, match="after 3 tries: HTTP 503") as caught:
        await run(script)
    assert (caught.value.transient, script.calls) == (True, 3)


@pytest.mark.parametrize(
    "error", [GraphInterrupt(()), KeyboardInterrupt(), asyncio.CancelledError(), ResourceError("no weights")], ids=repr
)
async def test_what_is_no_failure_of_the_call_passes_untouched(error: Any) -> None:
    with pytest.raises(type(error)) as caught:
        await run(_Script(error))
    assert caught.value is error


async def test_waits_as_long_as_the_server_asks_up_to_a_cap() -> None:
    started = time.monotonic()
    assert await run(_Script(status(429, 0.2))) == "ok"
    assert time.monotonic() - started >= 0.2
    started = time.monotonic()
    assert await run(_Script(status(429, 3600)), RetryPolicy(longest_wait=0.1)) == "ok"
    assert time.monotonic() - started < 4


async def test_a_hang_is_a_passing_failure() -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    with pytest.raises(ModelError, match=r"no reply within 0\.05 s") as caught:
        await run(hang, RetryPolicy(attempts=2, timeout=0.05, first_wait=0.01))
    assert caught.value.transient


async def test_the_seconds_left_bound_tries_and_waits() -> None:
    script = _Script(*(status(503) for _ in range(9)))
    started = time.monotonic()
    with pytest.raises(OutOfTime, match=r"0\.\d+ s that were left") as caught:
        await run(script, RetryPolicy(attempts=9, first_wait=5), seconds=0.1)
    assert time.monotonic() - started < 4
    assert caught.value.transient


async def test_waiting_for_a_slot_is_no_time_of_the_call() -> None:
    slots = Slots(1)

    async def short() -> str:
        await asyncio.sleep(0.15)
        return "ok"

    policy = RetryPolicy(attempts=1, timeout=0.5)
    calls = [policy.run(short, CallContext("m", slots, Spending(), no_usage())) for _ in range(5)]
    assert await asyncio.gather(*calls) == ["ok"] * 5


@pytest.mark.parametrize("code", [400, 401, 403, 500, None])
def test_a_key_is_never_shown(code: Any) -> None:
    text = "bad key sk-proj-abcdef123456 in header Authorization: Bearer hf_secretsecret"
    if code in {401, 403}:
        text = "Incorrect API key provided: abcdef123456"
    error: Any = RuntimeError(text)
    error.status_code = code
    message = str(describe_failure(error, model="m", limit=None, attempt=1))
    assert "abcdef" not in message
    assert "secret" not in message


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"timeout": 0}, {"timeout": float("nan")}])
def test_a_wrong_limit_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        RetryPolicy(**wrong)
