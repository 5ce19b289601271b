"""What a fault injector found: threads that hang, calls used up by failures, replies that no checkpoint can hold."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from furepa_world import FORCE, QUESTION, FixedScorer, WordRetriever, scripted
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from rebel_world import Table
from rebel_world import build as build_rebel
from rebel_world import scripted as rebel_scripted

from langgraph_evidence import FurepaSettings, create_furepa
from langgraph_evidence.errors import ResourceError
from langgraph_evidence.llm.loopback import as_reasoning_model, serve
from langgraph_evidence.llm.scripts import Fault
from langgraph_evidence.methods.furepa.plans import read_plan


def build(model: Any = None, retriever: Any = None, **values: Any) -> Any:
    settings = FurepaSettings(**values)
    graph = create_furepa(
        model or scripted(), retriever or WordRetriever(), settings=settings, query_scorer=FixedScorer({})
    )
    return graph.compile()


class Hanging(WordRetriever):
    """It hangs from its so manieth search on, until it is let go."""

    gate: Any = None
    first: int = 0

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 4) -> Any:
        if len(self.asked) >= self.first:
            self.gate.wait(20)
        return super()._get_relevant_documents(query, run_manager=run_manager, k=k)


@pytest.fixture
def gate() -> Any:
    event = threading.Event()
    yield event
    event.set()


async def test_a_retriever_whose_threads_hang_stops_at_the_deadline_and_stops_no_other_run(gate: Any) -> None:
    started = time.monotonic()
    stuck = [build(retriever=Hanging(gate=gate), max_seconds=0.5).ainvoke({"question": QUESTION}) for _ in range(12)]
    *cut, healthy = await asyncio.gather(*stuck, build().ainvoke({"question": QUESTION}))
    assert time.monotonic() - started < 8
    assert {out["stopped"] for out in cut} == {"budget"}
    assert healthy["answer"] == "Gwalior, India"


def test_threads_that_hang_are_no_workers_of_later_runs(gate: Any) -> None:
    graph = build(retriever=Hanging(gate=gate), max_seconds=0.05)
    for _ in range(70):
        assert graph.invoke({"question": QUESTION})["stopped"] == "budget"
    assert build().invoke({"question": QUESTION})["answer"] == "Gwalior, India"


def test_a_search_that_hangs_leaves_time_for_the_last_answer(gate: Any) -> None:
    out = build(retriever=Hanging(gate=gate, first=1), max_seconds=1.0).invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"]) == ("Gwalior", "budget")
    assert len(out["evidence"]) == 1


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_an_exit_inside_a_retriever_ends_its_run_alone(kind: Any) -> None:
    class Exits(WordRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 4) -> Any:
            raise kind("out")

    with pytest.raises(kind, match="out"):
        build(retriever=Exits()).invoke({"question": QUESTION})
    assert build().invoke({"question": QUESTION})["answer"] == "Gwalior, India"


@pytest.mark.parametrize(("given", "named"), [(None, "NoneType"), (["text"], "str"), ([{"a": 1}], "dict")])
def test_a_retriever_that_gives_no_documents_is_named(given: Any, named: str) -> None:
    class Odd(WordRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 4) -> Any:
            return given

    with pytest.raises(ResourceError, match=f"Odd gave a {named}"):
        build(retriever=Odd()).invoke({"question": QUESTION})


class NoK(BaseRetriever):
    """LangChain hands k on to it, since it has a name of its own, and it knows none."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any, top: int = 3) -> Any:
        return WordRetriever().invoke(query, None, k=top)


@pytest.mark.parametrize("retriever", [NoK(), WordRetriever().with_config(tags=["a"]), NoK().with_retry()])
@pytest.mark.parametrize("waited", [True, False])
def test_a_retriever_of_another_make_needs_no_k(retriever: Any, waited: bool) -> None:
    graph = build(retriever=retriever)
    given = {"question": QUESTION}
    out = asyncio.run(graph.ainvoke(given)) if waited else graph.invoke(given)
    assert out["answer"] == "Gwalior, India"


@pytest.mark.parametrize("edit", [[], [{"query": "stadium named after Roop Singh"}]])
def test_a_human_strikes_the_queries_or_puts_one_in(edit: Any) -> None:
    settings = FurepaSettings()
    builder = create_furepa(scripted(), WordRetriever(), settings=settings, query_scorer=FixedScorer({}))
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_after=["assess"])
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke({"question": QUESTION}, config)
    graph.update_state(config, {"queries": edit})
    out = graph.invoke(None, config)
    while graph.get_state(config).next:
        out = graph.invoke(None, config)
    assert out["answer"] == "Gwalior, India"
    assert next(step["query"] for step in out["steps"]) == (edit[0]["query"] if edit else "Dhyan Chand brother")


def test_a_tool_that_the_deadline_cuts_is_the_budgets_end() -> None:
    async def slow(query: str) -> str:
        await asyncio.sleep(3)
        return query

    tool = StructuredTool.from_function(coroutine=slow, name="slow", description="Looks up.")
    out = build_rebel(rebel_scripted(), [tool], max_seconds=0.6).compile().invoke({"question": "Who?"})
    assert out["stopped"] == "budget"


def test_tokens_are_kept_back_for_the_last_answer() -> None:
    for tokens in range(2000, 6000, 250):
        out = build(max_tokens=tokens).invoke({"question": QUESTION})
        assert (out["answer"][:7], out["stopped"]) in {("Gwalior", "budget"), ("Gwalior", "answered")}, tokens


@pytest.mark.parametrize("calls", [1, 2, 5, 6])
def test_a_refused_parameter_is_no_call_of_a_small_budget(calls: int) -> None:
    with serve(scripted(rules=[("", "[Search] Dhyan Chand\n[Answer] Gwalior")]), refuse=as_reasoning_model) as server:
        model = ChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="none")
        out = build(model, max_calls=calls).invoke({"question": QUESTION})
    assert out["stopped"] in {"budget", "no_answer"}
    assert 1 <= out["usage"]["calls"] <= calls
    assert out["evidence"]


@pytest.mark.parametrize(("every", "calls"), [(1, 1), (1, 3), (1, 6), (3, 1), (3, 6), (3, 10), (3, 15)])
def test_calls_that_failures_used_up_are_an_outcome(every: int, calls: int) -> None:
    model = scripted(faults=[{"status": 503, "times": None}] if every == 1 else [])
    if every == 3:
        model.faults.append(Fault(match=_third(), status=503, times=None))
    out = build(model, max_calls=calls).invoke({"question": QUESTION})
    assert out["stopped"] in {"budget", "answered"}
    assert len(model.calls) == out["usage"]["calls"] <= calls
    table = Table({"Who?": "me"})
    model = rebel_scripted(faults=[{"status": 503, "times": None}] if every == 1 else [{"status": 503, "times": 2}])
    out = build_rebel(model, [table.tool()], max_calls=calls).compile().invoke({"question": "Who?"})
    assert out["stopped"] in {"budget", "answered"}
    assert len(model.calls) == out["usage"]["calls"] <= calls


def _third() -> Any:
    count = iter(range(10**6))
    return lambda _text: next(count) % 3 == 2


def test_a_query_of_a_hundred_kilobytes_is_no_plan() -> None:
    plan = read_plan("0.0", 0, "[Search] " + " ".join(f"word{n}" for n in range(14_000)), may_answer=False)
    assert (plan["kind"], plan["text"]) == ("unusable", "The [Search] line is over 2000 characters long.")


def test_half_a_surrogate_pair_is_asked_for_again() -> None:
    model = scripted()
    model.rules.insert(0, (FORCE, "[Search] flag \ud83c of Peru"))
    out = build(model, iterations=1).invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"]) == ("", "no_answer")
    model.calls[-1]["text"].encode()


def test_an_absurd_count_of_tokens_counts_nothing() -> None:
    absurd = {"input_tokens": 2**63, "output_tokens": 3, "total_tokens": 5}
    message = AIMessage("[Search] Dhyan Chand", usage_metadata=absurd)
    out = build(scripted(rules=[("", message)]), iterations=1).invoke({"question": QUESTION})
    assert 0 < out["usage"]["output_tokens"] < 100
    assert out["usage"]["input_tokens"] == 0


def test_a_humans_stop_holds() -> None:
    settings = FurepaSettings()
    builder = create_furepa(scripted(), WordRetriever(), settings=settings, query_scorer=FixedScorer({}))
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_before=["next_round"])
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(None, config)
    graph.update_state(config, {"cut": "budget"})
    out = graph.invoke(None, config)
    assert (out["answer"], out["stopped"], out["usage"]["calls"]) == ("Gwalior", "budget", 6)
