"""`ask` and `sample` over a scripted model: repair, seeds, caches, limits, and the ledger."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage
from langgraph.errors import GraphInterrupt

from langgraph_evidence.budget import Allowance, total_usage
from langgraph_evidence.concurrency import node, run_sync
from langgraph_evidence.errors import InvalidInput, ModelError, OutOfTime, UnusableReply
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("demo", (("system", "Count."), ("human", "Question: $question")), ("question",))
ASKED = {"question": "how many?"}
REPAIRS = Asks("demo", lambda call: bool(call.complaint))


def number(text: Any) -> Any:
    if not text.isdigit():
        raise UnusableReply(f"A number was expected, not {text!r}.", reply=text)
    return int(text)


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    """Both ways in: the background loop of a synchronous graph, and a loop of the caller's own."""
    return run_sync if request.param == "sync" else asyncio.run


@pytest.fixture
def global_cache() -> Any:
    cache = InMemoryCache()
    set_llm_cache(cache)
    yield cache
    set_llm_cache(None)


def counts(usage: Any) -> Any:
    return {name: value for name, value in usage.items() if name != "seconds"}


def test_a_good_reply_takes_one_call(run: Any) -> None:
    chat = ScriptedChat(rules=[("how many", "42")], latency=0.05)
    reply = run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number, temperature=0.5))
    assert (reply.value, reply.text, reply.usage["calls"]) == (42, "42", 1)
    # Four words asked ("Count." and "Question: how many?"), one word replied.
    assert counts(reply.usage) == {"calls": 1, "cached_calls": 0, "input_tokens": 4, "output_tokens": 1}
    assert reply.usage["seconds"] >= 0.05
    assert chat.calls[0]["kwargs"] == {"temperature": 0.5, "seed": 0}


def test_a_bad_reply_is_asked_for_once_more_with_the_reason(run: Any) -> None:
    chat = ScriptedChat(rules=[("A number was expected, not 'many'", "7"), ("how many", "many")])
    reply = run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number))
    assert (reply.value, reply.usage["calls"]) == (7, 2)
    assert reply.usage["calls"] == 2
    roles = [message.type for message in chat.calls[1]["messages"]]
    assert roles == ["system", "human", "ai", "human"]
    assert chat.calls[1]["messages"][2].text == "many"


def test_two_bad_replies_are_a_typed_failure_that_keeps_its_cost(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "many")])
    with pytest.raises(UnusableReply, match="A number was expected") as caught:
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number))
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == 2
    assert caught.value.reply == "many"


def test_a_failing_repair_keeps_the_cost_of_both_calls(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "many")], faults=[{"match": REPAIRS, "status": 400}])
    with pytest.raises(ModelError, match="HTTP 400") as caught:
        run(LanguageModel(chat).ask(PROMPT, ASKED, parse=number))
    assert caught.value.usage is not None
    assert counts(caught.value.usage) == {"calls": 2, "cached_calls": 0, "input_tokens": 4, "output_tokens": 1}


@pytest.mark.parametrize("native", [False, True])
def test_n_samples_come_at_the_same_time_in_the_order_of_their_seeds(run: Any, native: Any) -> None:
    chat = ScriptedChat(rules=[("how many", lambda text, index: f"reply {index}")], latency=0.3)
    started = time.monotonic()
    samples = run(LanguageModel(chat).sample(PROMPT, ASKED, n=5, temperature=1.0, native=native))
    wall = time.monotonic() - started
    assert [sample.text for sample in samples] == [f"reply {index}" for index in range(5)]
    usage = total_usage(sample.usage for sample in samples)
    assert usage["calls"] == len(chat.calls) == (1 if native else 5)
    assert usage["output_tokens"] == 10
    assert usage["input_tokens"] == (4 if native else 20)
    assert chat.most_in_flight == (1 if native else 5)
    assert 0.3 <= usage["seconds"] <= wall


def test_a_server_that_returns_fewer_is_asked_for_the_rest(run: Any) -> None:
    class Stingy(ScriptedChat):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            result = super()._generate(messages, stop, run_manager, **kwargs)
            return result.model_copy(update={"generations": result.generations[:2]})

        async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            return self._generate(messages, stop, run_manager, **kwargs)

    chat = Stingy(rules=[("", ["a", "b", "c", "d"])])
    samples = run(LanguageModel(chat).sample(PROMPT, ASKED, n=4, native=True))
    assert [sample.text for sample in samples] == ["a", "b", "c", "d"]
    assert total_usage(sample.usage for sample in samples)["calls"] == len(chat.calls) == 3


def test_samples_never_come_from_a_cache_and_cached_replies_are_counted(run: Any, global_cache: Any) -> None:
    chat = ScriptedChat(rules=[("how many", ["1", "2", "3"])], deterministic=False)
    model = LanguageModel(chat)
    replies = [run(model.ask(PROMPT, ASKED, parse=number)) for _ in range(2)]
    assert [reply.usage["cached_calls"] for reply in replies] == [0, 1]
    assert counts(replies[1].usage) == {"calls": 1, "cached_calls": 1, "input_tokens": 0, "output_tokens": 0}
    calls = len(chat.calls)
    samples = run(model.sample(PROMPT, ASKED, n=3))
    assert len(chat.calls) == calls + 3
    assert all(sample.usage["cached_calls"] == 0 for sample in samples)


def test_seeds_go_only_where_they_are_wanted() -> None:
    class Seedless(ScriptedChat):
        pass

    del Seedless.model_fields["seed"]
    seen = {}
    for chat, seeds in [
        (ScriptedChat(rules=[("", "x")]), None),
        (ScriptedChat(rules=[("", "x")]), [7, 8]),
        (ScriptedChat(rules=[("", "x")], deterministic=False), None),
        (ScriptedChat(rules=[("", "x")], deterministic=False), [7, 8]),
        (Seedless(rules=[("", "x")], deterministic=False), [7, 8]),
    ]:
        run_sync(LanguageModel(chat).sample(PROMPT, ASKED, n=2, seeds=seeds))
        key = (type(chat).__name__, chat.deterministic, seeds is not None)
        seen[key] = sorted(call["kwargs"].get("seed", -1) for call in chat.calls)
    assert seen == {
        ("ScriptedChat", True, False): [0, 1],
        ("ScriptedChat", True, True): [7, 8],
        ("ScriptedChat", False, False): [-1, -1],
        ("ScriptedChat", False, True): [7, 8],
        ("Seedless", False, True): [-1, -1],
    }


def test_logprobs_have_one_plain_shape(run: Any) -> None:
    raw = [{"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "Yes", "logprob": -0.1}]}]
    scripted = AIMessage("Yes", response_metadata={"logprobs": {"content": raw}})
    chat = ScriptedChat(rules=[("how many", scripted)])
    (sample,) = run(LanguageModel(chat).sample(PROMPT, ASKED, n=1, logprobs=True, top_logprobs=3, max_tokens=1))
    assert sample.logprobs == [{"token": "Yes", "logprob": -0.1, "top": {"Yes": -0.1}}]
    assert json.loads(json.dumps(sample.logprobs)) == sample.logprobs
    given = chat.calls[0]["kwargs"]
    assert (given["logprobs"], given["top_logprobs"], given["max_tokens"]) == (True, 3, 1)
    (plain,) = run(LanguageModel(chat).sample(PROMPT, ASKED, n=1))
    assert plain.logprobs is None


def test_one_failed_sample_leaves_the_others(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "x")], faults=[{"status": 400}])
    samples = run(LanguageModel(chat).sample(PROMPT, ASKED, n=3))
    assert sorted(sample.text for sample in samples) == ["", "x", "x"]
    (failed,) = (sample for sample in samples if sample.error)
    assert "HTTP 400" in failed.error
    assert total_usage(sample.usage for sample in samples)["calls"] == 3


def test_all_samples_failing_is_an_error(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "x")], faults=[{"status": 401, "times": None}])
    with pytest.raises(ModelError, match="API key") as caught:
        run(LanguageModel(chat).sample(PROMPT, ASKED, n=3))
    assert caught.value.status == 401
    assert caught.value.usage is not None
    assert caught.value.usage["calls"] == 3


def test_one_limit_for_all_graphs_that_share_the_model(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")], latency=0.02)
    model = LanguageModel(chat, max_concurrency=2)

    async def both() -> None:
        await asyncio.gather(model.sample(PROMPT, ASKED, n=5), model.ask(PROMPT, ASKED, parse=number))

    run(both())
    assert chat.most_in_flight == 2


def test_a_hang_is_cut_off(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")], faults=[{"hang": 3.0, "times": None}])
    started = time.monotonic()
    with pytest.raises(ModelError, match="no reply within") as caught:
        run(LanguageModel(chat, timeout=0.1, attempts=1).ask(PROMPT, ASKED, parse=number))
    assert caught.value.transient
    assert time.monotonic() - started < 2.5
    with pytest.raises(OutOfTime, match="were left"):
        run(LanguageModel(chat, attempts=1).sample(PROMPT, ASKED, n=2, allowance=Allowance(seconds=0.05)))


def test_what_is_not_a_failure_passes_through(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")], faults=[{"error": GraphInterrupt(()), "times": None}])
    with pytest.raises(GraphInterrupt):
        run(LanguageModel(chat).sample(PROMPT, ASKED, n=2))
    with pytest.raises(InvalidInput, match="No rule of the script matches this prompt, demo:\nCount"):
        run(LanguageModel(ScriptedChat(rules=[("never", "1")])).ask(PROMPT, ASKED, parse=number))


def test_parameters_bound_to_the_model_win_over_those_of_a_call(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")])
    bound = LanguageModel(chat.bind(stop=["\n"], temperature=1, max_completion_tokens=9))
    run(bound.ask(PROMPT, ASKED, parse=number, temperature=0.1, max_tokens=5, stop=["x"]))
    run(bound.sample(PROMPT, ASKED, n=1, temperature=0.1))
    first, second = (call["kwargs"] for call in chat.calls)
    assert first == second == {"stop": ["\n"], "temperature": 1, "max_completion_tokens": 9, "seed": 0}


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_bound_seed_is_counted_on_from_and_a_bound_n_is_ours(run: Any, deterministic: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")], deterministic=deterministic)
    bound = LanguageModel(chat.bind(seed=7, n=3))
    run(bound.sample(PROMPT, ASKED, n=2))
    run(bound.sample(PROMPT, ASKED, n=2, seeds=[100, 200]))
    assert sorted(call["kwargs"]["seed"] for call in chat.calls) == [7, 8, 107, 207]
    assert all("n" not in call["kwargs"] for call in chat.calls)


def test_no_temperature_is_sent_where_none_is_given(run: Any) -> None:
    chat = ScriptedChat(rules=[("", "1")], deterministic=False)
    model = LanguageModel(chat)
    run(model.ask(PROMPT, ASKED, parse=number, temperature=None))
    run(model.sample(PROMPT, ASKED, n=2, temperature=None))
    assert [call["kwargs"] for call in chat.calls] == [{}, {}, {}]


def test_callbacks_bound_to_the_model_and_those_of_the_run_are_both_called(run: Any) -> None:
    bound, ambient = UsageMetadataCallbackHandler(), UsageMetadataCallbackHandler()
    chat = ScriptedChat(rules=[("", "1")])
    wrapped: Any = chat.with_config(callbacks=[bound], tags=["mine"])
    model = LanguageModel(wrapped)

    async def body(_: object) -> None:
        await model.ask(PROMPT, ASKED, parse=number)
        await model.sample(PROMPT, ASKED, n=2)

    within = node(body)
    if run is run_sync:
        within.invoke({}, {"callbacks": [ambient]})
    else:
        run(within.ainvoke({}, {"callbacks": [ambient]}))
    assert bound.usage_metadata["scripted"]["output_tokens"] == 3
    assert ambient.usage_metadata == bound.usage_metadata


def test_the_callers_model_is_not_changed() -> None:
    chat = ScriptedChat(rules=[("", "1")], n=3)
    before = chat.model_dump(exclude={"rules", "faults"})
    model = LanguageModel(chat)
    reply = run_sync(model.ask(PROMPT, ASKED, parse=number))
    samples = run_sync(model.sample(PROMPT, ASKED, n=2))
    # The model's own n = 3 would make three replies of each call, and bill them.
    assert [usage["output_tokens"] for usage in (reply.usage, *(sample.usage for sample in samples))] == [1, 1, 1]
    assert chat.model_dump(exclude={"rules", "faults"}) == before
    assert chat.disable_streaming is False
    assert model.name == "ScriptedChat 'scripted'"


@pytest.mark.parametrize("wrong", [42, None, "no-such-provider:x", "nonsense"])
def test_what_is_no_model_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        LanguageModel(wrong)


@pytest.mark.parametrize(("n", "seeds"), [(0, None), (2, [1])])
async def test_a_wrong_number_of_samples_is_refused(n: Any, seeds: Any) -> None:
    model = LanguageModel(ScriptedChat(rules=[("", "1")]))
    with pytest.raises(InvalidInput, match="n="):
        await model.sample(PROMPT, ASKED, n=n, seeds=seeds)
