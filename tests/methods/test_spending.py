"""What a run may spend and says that it spent, in both methods: repairs under a budget, calls that failed."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import Any

import pytest
from furepa_world import FIRST, FORCE, QUESTION, FixedScorer, WordRetriever
from furepa_world import scripted as furepa_model
from langgraph.checkpoint.memory import InMemorySaver
from rebel_world import STEPS, Table, asks, word_features
from rebel_world import scripted as rebel_model
from trusting import trusting

from langgraph_evidence import FurepaSettings
from langgraph_evidence.errors import ModelError
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.methods.furepa.graph import Furepa
from langgraph_evidence.methods.rebel import RebelSettings
from langgraph_evidence.methods.rebel.graph import Rebel
from langgraph_evidence.methods.rebel.steps import Steps
from langgraph_evidence.methods.rebel.toolbox import Toolbox

AGAIN = Asks("*", lambda call: bool(call.complaint))


def furepa(model: Any, *, attempts: int = 1, saver: Any = None, **values: Any) -> Any:
    language_model = LanguageModel(model, attempts=attempts)
    run = Furepa(FurepaSettings(**values), trusting, language_model, WordRetriever(), FixedScorer({}))
    return run.graph().compile(checkpointer=saver)


def rebel(model: Any, *tools: Any, attempts: int = 1, **values: Any) -> Any:
    steps = Steps(LanguageModel(model, attempts=attempts), Toolbox(tools), word_features)
    return Rebel(RebelSettings(**values), trusting, steps).graph().compile()


def told(out: Any, model: Any, *, failed: int = 0) -> None:
    """The usage counts every call, and every word that went in or came back but those of calls that failed."""
    assert out["usage"]["calls"] == len(model.calls)
    read = sum(len(call["text"].split()) for call in model.calls)
    lost = [len(call["text"].split()) for call in model.calls[:failed]]
    assert out["usage"]["input_tokens"] == read - sum(lost)
    assert out["usage"]["output_tokens"] > 0


def steps_of(model: Any) -> Counter[str]:
    return Counter(STEPS[call["prompt"].name] + "!" * bool(call["prompt"].complaint) for call in model.calls)


# FuRePA


@pytest.mark.parametrize(
    ("max_calls", "calls", "answer", "stopped"),
    [(2, 2, "", "no_answer"), (3, 3, "Gwalior", "forced"), (9, 3, "Gwalior", "forced"), (None, 3, "Gwalior", "forced")],
)
def test_a_forced_answer_is_repaired_where_a_call_is_left(
    max_calls: Any, calls: Any, answer: Any, stopped: Any
) -> None:
    mended = Asks("furepa.force*", lambda call: bool(call.complaint))
    model = furepa_model(rules=[(FIRST, "[Search] Chand"), (mended, "[Answer] Gwalior"), (FORCE, "Gwalior, surely.")])
    out = furepa(model, samples=1, iterations=1, max_calls=max_calls).invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"], len(model.calls)) == (answer, stopped, calls)
    told(out, model)


def test_failed_tries_of_a_round_share_the_budget_and_leave_one_for_the_call_alone() -> None:
    model = furepa_model(faults=[{"status": 500, "retry_after": 0, "times": None}])
    with contextlib.suppress(ModelError):  # what becomes of the run is told elsewhere
        furepa(model, attempts=4, samples=3, max_calls=7).invoke({"question": QUESTION})
    # (7 - 1) / 3 tries for each of the three; then the seventh by itself.
    assert len(model.calls) == 7


@pytest.mark.parametrize("native", [False, True])
def test_a_round_that_was_lost_is_in_the_usage(native: Any) -> None:
    lost = 1 if native else 5
    model = furepa_model(faults=[{"match": FIRST, "status": 500, "times": lost}])
    out = furepa(model, native_n=native).invoke({"question": QUESTION})
    assert out["answer"] == "Gwalior, India"
    assert [plan["kind"] for plan in out["plans"].values()].count("failed") == lost
    assert len(model.calls) == (1 + 1 + 1 + 1 if native else 5 + 1 + 5 + 5)
    told(out, model, failed=lost)


def test_a_forced_answer_that_nobody_can_use_is_in_the_usage() -> None:
    model = furepa_model(rules=[(FIRST, "[Search] Chand"), (FORCE, "Gwalior, surely.")])
    out = furepa(model, samples=1, iterations=1).invoke({"question": QUESTION})
    assert (out["stopped"], len(model.calls)) == ("no_answer", 3)
    told(out, model)


@pytest.mark.parametrize("hanging", [FIRST, FORCE])
def test_calls_that_the_deadline_cut_are_in_the_usage(hanging: Any) -> None:
    model = furepa_model(faults=[{"match": hanging, "hang": 5.0, "times": None}])
    graph = furepa(model, samples=2, iterations=1, max_seconds=0.5)
    out = asyncio.run(graph.ainvoke({"question": QUESTION}))
    assert out["stopped"] == "budget"
    assert out["usage"]["calls"] == len(model.calls) == (2 if hanging is FIRST else 3)
    assert out["usage"]["seconds"] >= 0.4


def test_an_edit_of_the_stored_settings_lifts_no_limit_of_the_graph() -> None:
    model = furepa_model()
    graph = furepa(model, max_calls=6, saver=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke({"question": QUESTION}, config, interrupt_after=["begin"])
    settings = graph.get_state(config).values["settings"]
    graph.update_state(config, {"settings": {**settings, "max_calls": 100, "samples": 3}})
    out = graph.invoke(None, config)
    assert (out["stopped"], len(model.calls)) == ("budget", 3 + 2 + 1)
    assert {plan["iteration"] for plan in out["plans"].values()} == {0, 1}


# REBEL


@pytest.mark.parametrize(
    ("max_calls", "steps"),
    [
        # One is kept back for the last answer, which ends a run that cannot begin another step.
        (2, {"recall": 1, "answer": 1}),
        (3, {"recall": 1, "recall!": 1, "answer": 1}),
        (4, {"recall": 1, "recall!": 1, "tool_input": 1}),
        (5, {"recall": 1, "recall!": 1, "tool_input": 1, "tool_input!": 1}),
        (None, {"recall": 1, "recall!": 1, "tool_input": 1, "tool_input!": 1}),
    ],
)
def test_a_step_is_repaired_where_a_call_is_left(max_calls: Any, steps: Any) -> None:
    model = rebel_model(recalls={"Who?": "perhaps"}, inputs={"Who?": "none"}, answers={"Who?": "Ann"})
    out = rebel(model, Table({}).tool(), depth=0, max_calls=max_calls).invoke({"question": "Who?"})
    assert steps_of(model) == steps
    told(out, model)


@pytest.mark.parametrize(("max_calls", "repaired"), [(5, 0), (6, 2), (7, 2)])
def test_the_steps_of_a_round_share_what_is_left_for_their_repairs(max_calls: Any, repaired: Any) -> None:
    # One call has split, one is kept back: 3, 4 or 5 are left for two, whose repairs take a second each.
    model = rebel_model({"Q?": "1. A?\n2. B?"}, recalls={"A?": "perhaps", "B?": "perhaps"}, answers={"Q?": "so"})
    out = rebel(model, Table({}).tool(), depth=1, max_calls=max_calls).invoke({"question": "Q?"})
    assert steps_of(model)["recall!"] == repaired
    assert (out["answer"], out["stopped"]) == ("so", "budget")
    told(out, model)


JUNK: dict[str, Any] = {
    "split": {"splits": {"Q?": "well, well"}},
    "rewrite": {"splits": {"Q?": "1. A?\n2. Is it?"}, "words": {"Is it?": "#1"}},
    "recall": {"recalls": {"Q?": "perhaps"}},
    "pick_tool": {"picks": {"Q?": "any"}},
    "tool_input": {"inputs": {"Q?": "any"}},
    "answer": {"answers": {"Q?": ""}},
}


@pytest.mark.parametrize("step", JUNK)
def test_replies_that_nobody_can_use_are_in_the_usage(step: Any) -> None:
    model = rebel_model(**JUNK[step])
    tools = [Table({"Q?": "so"}).tool(name) for name in ("a", "b")]
    out = rebel(model, *tools).invoke({"question": "Q?"})
    assert steps_of(model)[f"{step}!"] == 1
    told(out, model)


@pytest.mark.parametrize("times", [1, 2])
def test_a_call_that_failed_is_in_the_usage_whether_it_is_made_again_or_lost(times: Any) -> None:
    model = rebel_model(
        {"Q?": "1. A?"}, faults=[{"match": asks("recall", "A?"), "status": 503, "times": times}], answers={"Q?": "so"}
    )
    out = rebel(model, Table({"A?": "a"}).tool(), depth=1).invoke({"question": "Q?"})
    assert out["tree"]["0-1"]["origin"] == ("tool" if times == 1 else "failed")
    assert out["usage"]["calls"] == len(model.calls)
    # A split and what failed, then recall, input and answer of A? where the second try went through, and of Q?.
    assert len(model.calls) == 1 + times + (3 if times == 1 else 0) + 3


def test_a_call_of_rebels_that_the_deadline_cut_is_in_the_usage() -> None:
    model = rebel_model(faults=[{"match": asks("recall"), "hang": 5.0, "times": None}], answers={"Q?": "so"})
    graph = rebel(model, Table({}).tool(), depth=0, max_seconds=0.5)
    out = asyncio.run(graph.ainvoke({"question": "Q?"}))
    assert (out["answer"], out["stopped"]) == ("so", "budget")
    assert steps_of(model) == {"recall": 1, "answer": 1}
    assert out["usage"]["calls"] == 2
    assert out["usage"]["seconds"] >= 0.4


def test_the_last_answer_is_asked_for_again_where_its_call_failed_for_a_passing_reason() -> None:
    faults = [
        {"match": asks("recall", "B?"), "hang": 5.0, "times": None},
        {"match": asks("answer", "Q?"), "status": 500, "times": 1},
    ]
    model = rebel_model({"Q?": "1. B?"}, faults=faults, answers={"Q?": "so"})
    graph = rebel(model, Table({}).tool(), depth=1, max_seconds=1.0)
    out = asyncio.run(graph.ainvoke({"question": "Q?"}))
    assert (out["answer"], out["stopped"]) == ("so", "budget")
    assert steps_of(model) == {"split": 1, "recall": 1, "answer": 2}
    assert out["usage"]["calls"] == 4
