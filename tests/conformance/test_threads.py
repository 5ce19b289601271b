"""A thread can be broken off, resumed, edited, forked and asked again."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from cases import Case
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import InvalidUpdateError

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.types import Stopped

SUPPORT = Path(__file__).parents[1] / "support"
CONFIG: Any = {"configurable": {"thread_id": "1"}}


@pytest.mark.parametrize("before", [True, False])
def test_stopped_at_every_node_and_resumed_no_call_is_repeated(case: Case, before: bool) -> None:
    whole, model = case.script(), case.script()
    output = case.graph(whole).invoke(case.given())
    builder = case.builder(model)
    stops = {"interrupt_before" if before else "interrupt_after": list(builder.nodes)}
    graph = builder.compile(checkpointer=InMemorySaver(), **stops)
    graph.invoke(case.given(), CONFIG)
    stopped = 0
    while graph.get_state(CONFIG).next:
        graph.invoke(None, CONFIG)
        stopped += 1
    values = graph.get_state(CONFIG).values
    assert stopped >= 4
    assert (values["answer"], values["stopped"]) == (output["answer"], "answered")
    assert len(model.calls) == len(whole.calls) == values["usage"]["calls"]


def test_a_second_question_on_a_thread_is_answered_as_on_a_fresh_one(case: Case) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver())
    other = case.question.replace("Where", "In what place").replace("How", "In truth how")
    graph.invoke(case.given(other), CONFIG)
    told = list(graph.stream(case.given(), CONFIG, stream_mode="values"))
    afresh = list(graph.stream(case.given(), {"configurable": {"thread_id": "2"}}, stream_mode="values"))
    assert told[1] == afresh[1]  # from the first step on nothing is left of the other question
    again, fresh = ({key: values[-1][key] for key in graph.output_channels} for values in (told, afresh))
    assert again["messages"][0].text == fresh["messages"][0].text == case.answer
    for output in (again, fresh):
        output["usage"]["seconds"] = 0.0
        del output["messages"]
    assert again == fresh
    assert len(graph.get_state(CONFIG).values["messages"]) == 1


@pytest.mark.parametrize("bad", [{}, {"": ""}, {"": "  "}, {"": 7}, {"": None}])
def test_an_input_without_a_question_is_refused(case: Case, bad: Any) -> None:
    given = dict.fromkeys([case.method.input_key] * len(bad), bad.get(""))
    with pytest.raises(InvalidInput, match=f"non-empty {case.method.input_key!r}"):
        case.graph().invoke(given)


def plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


def test_what_is_stored_is_plain_data(case: Case) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver())
    graph.invoke(case.given(), CONFIG)
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    for snapshot in graph.get_state_history(CONFIG):
        for key, value in snapshot.values.items():
            assert plain(value) or key == "messages", key
            assert strict.loads_typed(strict.dumps_typed(value)) == value, key
            assert key == "messages" or json.loads(json.dumps(value)) == value, key


def finished(graph: Any, config: Any) -> dict[str, Any]:
    """Goes on to the end of a run."""
    graph.invoke(None, config)
    state = graph.get_state({"configurable": {"thread_id": "1"}})
    assert not state.next
    return dict(state.values)


def test_a_fork_of_any_checkpoint_goes_on_to_the_same_end(case: Case) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver())
    graph.invoke(case.given(), CONFIG)
    for snapshot in list(graph.get_state_history(CONFIG)):
        if snapshot.next and snapshot.next != ("__start__",):
            values = finished(graph, snapshot.config)
            assert (values["answer"], values["stopped"]) == (case.answer, "answered"), snapshot.next


@pytest.mark.parametrize("named", [True, False])
def test_an_edit_of_any_key_after_any_node_goes_on_to_an_end(case: Case, named: bool) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver())
    whole = graph.invoke(case.given(), CONFIG)
    history = list(graph.get_state_history(CONFIG))[::-1]
    edits = 0
    for before, after in itertools.pairwise(history[1:]):
        node = before.next[0]
        values_now = {key: value for key, value in after.values.items() if key != "messages"}
        alone = list(values_now)[edits % len(values_now)]
        for values in (values_now, {alone: values_now[alone]}):
            try:
                fork = graph.update_state(after.config, values, as_node=node if named else None)
            except InvalidUpdateError:  # several nodes ran, and LangGraph asks which one it is
                assert not named
                continue
            ended = finished(graph, fork)
            assert (ended["answer"], ended["stopped"]) == (case.answer, "answered"), (node, values)
            assert ended["usage"]["calls"] == whole["usage"]["calls"], (node, values)
            edits += 1
    assert edits >= 8


def test_an_edit_in_the_name_of_any_node_goes_on_to_an_outcome(case: Case) -> None:
    builder = case.builder(max_calls=20)
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(case.given(), CONFIG)
    history = list(graph.get_state_history(CONFIG))[::-1]
    for snapshot in history[2::3]:
        for node in builder.nodes.keys() - {"conclude"}:
            values = finished(graph, graph.update_state(snapshot.config, {"cut": ""}, as_node=node))
            assert values["stopped"] in set(get_args(Stopped)), (snapshot.next, node)
            assert values["usage"]["calls"] <= 20


def test_a_run_ended_by_hand_has_an_outcome(case: Case) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver(), interrupt_after=["begin"])
    graph.invoke(case.given(), CONFIG)
    assert graph.get_state(CONFIG).values["stopped"] == ""
    last = next(node for node in ("force_answer", "answer") if node in graph.nodes)
    values = finished(graph, graph.update_state(CONFIG, {"answer": "By hand"}, as_node=last))
    assert values["stopped"] in set(get_args(Stopped))
    assert len(values["messages"]) == 1


@pytest.mark.parametrize("kind", ["calls", "steps"])
def test_killed_at_any_moment_and_resumed_no_finished_call_is_repeated(case: Case, kind: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed.py"), case.method.name, str(tmp_path), kind],
        env={
            **os.environ,
            "LANGGRAPH_STRICT_MSGPACK": "true",
            "PYTHONPATH": os.pathsep.join([str(SUPPORT), *sys.path]),
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    logs = sorted(tmp_path.glob("*.log"))
    calls = len(_lines(logs[-1], "start"))
    assert len(logs) - 1 == calls if kind == "calls" else len(logs) >= 2
    for log in logs:
        assert log.read_text().splitlines()[-1] == f"answer {case.answer}", log.name
        started, ended = Counter(_lines(log, "start")), set(_lines(log, "end"))
        assert set(started) == ended
        assert len(started) == calls
        whole = log.read_text().partition("killed")[0].splitlines()
        assert {call for call in started if started[call] > 1 and f"end {call}" in whole} == set()


def _lines(log: Path, word: str) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in log.read_text().splitlines() if line.startswith(word)]
