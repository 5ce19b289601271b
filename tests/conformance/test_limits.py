"""Budgets, deadlines and the host's limit of steps are outcomes with a name, and no limit can be lifted."""

from __future__ import annotations

import asyncio
import time
from typing import Any, get_args

import pytest
from cases import Case
from furepa_world import WordRetriever
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.types import Stopped

LIMITS = ("max_calls", "max_tokens", "max_seconds")


def test_no_more_calls_than_allowed_and_more_calls_never_find_less(case: Case) -> None:
    found = []
    for calls in range(1, 21):
        model = case.script()
        output = case.graph(model, max_calls=calls).invoke(case.given())
        assert len(model.calls) == output["usage"]["calls"] <= calls
        assert output["stopped"] in get_args(Stopped)
        found.append((len(output["evidence"]), output["stopped"] == "answered"))
    assert found == sorted(found)
    assert found[-1][1]


def test_without_an_end_the_calls_are_never_more_than_allowed(case: Case) -> None:
    for calls in range(1, 21):
        model = case.endless()
        output = case.graph(model, **case.unending, max_calls=calls).invoke(case.given())
        assert len(model.calls) == output["usage"]["calls"] <= calls
        assert output["stopped"] == "budget" or not case.unending


@pytest.mark.parametrize("limit", [{"max_tokens": 1}, {"max_seconds": 0.0}, {"max_seconds": 1e-6}])
async def test_a_tiny_budget_is_an_outcome(case: Case, limit: dict[str, Any]) -> None:
    for output in (case.graph(**limit).invoke(case.given()), await case.graph(**limit).ainvoke(case.given())):
        assert (output["answer"], output["stopped"]) == ("", "budget")
        assert len(output["messages"]) == 1


class Hanging(WordRetriever):
    """It takes longer than anybody waits."""

    async def _aget_relevant_documents(self, query: Any, *, run_manager: Any, k: Any = 4) -> Any:
        await asyncio.sleep(30.0)


@pytest.mark.parametrize("hangs_at", range(4))
async def test_a_model_that_hangs_stops_at_the_deadline(case: Case, hangs_at: int) -> None:
    calls = iter(range(10_000))
    faults = [{"match": lambda _text: next(calls) >= hangs_at, "hang": 30.0, "times": None}]
    started = time.monotonic()
    output = await case.graph(case.script(faults=faults), max_seconds=0.4).ainvoke(case.given())
    assert time.monotonic() - started < 2.0
    assert output["stopped"] in {"budget", "answered"}
    assert output["stopped"] == "budget" or hangs_at >= 2
    assert output["usage"]["seconds"] < 2.0


async def test_a_search_that_hangs_stops_at_the_deadline(case: Case) -> None:
    started = time.monotonic()
    retriever = Hanging(passages=dict(case.passages))
    output = await case.graph(retriever=retriever, max_seconds=0.4).ainvoke(case.given())
    assert time.monotonic() - started < 2.0
    assert (output["stopped"], output["evidence"]) == ("budget", [])


def test_any_limit_of_steps_that_lets_a_run_begin_brings_an_outcome(case: Case) -> None:
    given, ends = case.given(), []
    chain = case.graph(case.endless(), **case.unending) | RunnableLambda(lambda output: output["stopped"])
    for limit in range(case.first_end + 1, 41):
        output = case.graph(case.endless(), **case.unending).invoke(given, {"recursion_limit": limit})
        if limit % 5 == 0:
            assert chain.invoke(given, {"recursion_limit": limit}) == output["stopped"]
        ends.append(output["stopped"])
    first_whole = ends.index("answered") if "answered" in ends else len(ends)
    assert set(ends[:first_whole]) == {"step_limit"}
    assert set(ends[first_whole:]) <= {"answered"}
    with pytest.raises(GraphRecursionError):  # so nothing shorter is left out above
        case.graph(case.endless(), **case.unending).invoke(given, {"recursion_limit": case.first_end})


@pytest.mark.parametrize("typed", [True, False])
def test_a_context_lifts_no_limit(case: Case, typed: bool) -> None:
    model = case.endless()
    graph = case.graph(model, **case.unending, max_calls=3, max_tokens=10**6, max_seconds=600.0)

    def context(**values: Any) -> Any:
        return case.method.settings(**values) if typed else values

    graph.invoke(case.given(), context=context(**dict.fromkeys(LIMITS)))
    assert len(model.calls) <= 3
    for name, more in (("max_calls", 4), ("max_tokens", 10**6 + 1), ("max_seconds", 600.5)):
        with pytest.raises(InvalidInput, match=f"'{name}' was given {more}; .* This graph's maker set that limit"):
            graph.invoke(case.given(), context=context(**{name: more}))
    before = len(model.calls)
    graph.invoke(case.given(), context=context(max_calls=1))
    assert len(model.calls) <= before + 1


def test_an_edited_state_lifts_no_limit(case: Case) -> None:
    model = case.endless()
    builder = case.builder(model, **case.unending, max_calls=4)
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_after=["begin"])
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke(case.given(), config)
    settings = graph.get_state(config).values["settings"]
    graph.update_state(config, {"settings": {**settings, "max_calls": 1000}})
    graph.invoke(None, config)
    assert graph.get_state(config).values["stopped"] in get_args(Stopped)
    assert len(model.calls) <= 4
