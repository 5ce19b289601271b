"""What a call may spend: tries, the repair and waits stay inside it, and every failure tells what was spent."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from langgraph_evidence.budget import Allowance, total_usage
from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import ModelError, OutOfTime, UnusableReply
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("demo", (("human", "Question: $question"),), ("question",))
ASKED = {"question": "how many?"}


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return run_sync if request.param == "sync" else asyncio.run


def number(text: Any) -> Any:
    if not text.isdigit():
        raise UnusableReply("A number was expected.", reply=text)
    return int(text)


def failing(status: Any = 500, times: Any = None, **more: Any) -> Any:
    return ScriptedChat(rules=[("", "7")], faults=[{"status": status, "times": times, "retry_after": 0, **more}])


@pytest.mark.parametrize(("calls", "tries"), [(1, 1), (2, 2), (3, 3), (9, 4), (None, 4), (0, 1)])
def test_tries_never_exceed_the_calls_and_are_counted(run: Any, calls: Any, tries: Any) -> None:
    chat = failing()
    with pytest.raises(ModelError) as caught:
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number, allowance=Allowance(calls=calls)))
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == len(chat.calls) == tries
    assert caught.value.usage["seconds"] > 0
    assert not isinstance(caught.value, OutOfTime)


def test_a_reply_counts_the_tries_that_failed_before_it(run: Any) -> None:
    reply = run(LanguageModel(failing(times=2)).ask(PROMPT, ASKED, parse=number))
    assert (reply.value, reply.usage["calls"]) == (7, 3)


@pytest.mark.parametrize(("calls", "asked"), [(1, 1), (2, 2)])
def test_a_repair_needs_a_call(run: Any, calls: Any, asked: Any) -> None:
    chat = ScriptedChat(rules=[("", "many")])
    with pytest.raises(UnusableReply) as caught:
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number, allowance=Allowance(calls=calls)))
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == len(chat.calls) == asked
    assert caught.value.usage["output_tokens"] == asked


def test_a_failed_try_leaves_no_call_for_the_repair(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "many")], faults=[{"status": 500, "retry_after": 0}])
    with pytest.raises(UnusableReply):
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number, allowance=Allowance(calls=2)))
    assert len(chat.calls) == 2


def test_a_repair_needs_time(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "many")])

    def slow(text: Any) -> Any:
        time.sleep(0.3)
        return number(text)

    with pytest.raises(UnusableReply):
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=slow, allowance=Allowance(seconds=0.2)))
    assert len(chat.calls) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_used_up_seconds_are_an_error_of_their_own_that_tells_its_cost(run: Any, seconds: Any) -> None:
    chat = ScriptedChat(rules=[("", "7")], latency=3.0)
    model = LanguageModel(chat)
    started = time.monotonic()
    for call in (
        model.ask(PROMPT, ASKED, parse=number, allowance=Allowance(seconds=seconds)),
        model.sample(PROMPT, ASKED, n=2, allowance=Allowance(seconds=seconds)),
        model.sample(PROMPT, ASKED, n=2, native=True, allowance=Allowance(seconds=seconds)),
    ):
        with pytest.raises(OutOfTime, match=r"'scripted' did not reply within the .* s that were") as caught:
            run(call)
        assert caught.value.usage is not None
        assert caught.value.usage["seconds"] >= seconds
    assert len(chat.calls) == (4 if seconds else 0)
    assert time.monotonic() - started < 2.5


@pytest.mark.parametrize(("retry_after", "seconds"), [(7, 2.0), (3600, 2.0), (3600, 45.0)])
def test_a_wait_that_the_deadline_forbids_ends_the_call_at_once(run: Any, retry_after: Any, seconds: Any) -> None:
    chat = failing(429, retry_after=retry_after)
    started = time.monotonic()
    with pytest.raises(OutOfTime, match=f"asked to wait {retry_after} s, more than the .*HTTP 429") as caught:
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number, allowance=Allowance(seconds=seconds)))
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == len(chat.calls) == 1
    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(("calls", "most"), [(3, 3), (5, 5), (1, 3)])
def test_n_samples_share_the_calls(run: Any, native: Any, calls: Any, most: Any) -> None:
    chat = ScriptedChat(rules=[("", "7")], faults=[{"status": 500, "retry_after": 0, "times": None}])
    with pytest.raises(ModelError) as caught:
        run(LanguageModel(chat).sample(PROMPT, ASKED, n=3, native=native, allowance=Allowance(calls=calls)))
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == len(chat.calls)
    assert len(chat.calls) == (most if not native else max(calls - 2, 1))


def test_a_sample_whose_call_failed_says_what_it_spent(run: Any) -> None:
    chat = failing(status=500, times=2)
    samples = run(LanguageModel(chat, attempts=1).sample(PROMPT, ASKED, n=3))
    assert sorted(bool(sample.error) for sample in samples) == [False, True, True]
    assert [sample.usage["calls"] for sample in samples] == [1, 1, 1]
    assert len({sample.usage["seconds"] for sample in samples}) == 1
    assert total_usage(sample.usage for sample in samples)["seconds"] > 0


def test_a_reply_from_a_cache_takes_no_call(run: Any) -> None:
    from langchain_core.caches import InMemoryCache

    repair = Asks("demo", lambda call: bool(call.complaint))
    chat = ScriptedChat(rules=[(repair, "7"), ("", "many")], cache=InMemoryCache())
    model = LanguageModel(chat)
    for calls in (2, 1):
        reply = run(model.ask(PROMPT, ASKED, parse=number, allowance=Allowance(calls=calls)))
        assert reply.value == 7
    assert (reply.usage["calls"], reply.usage["cached_calls"], len(chat.calls)) == (2, 2, 2)
