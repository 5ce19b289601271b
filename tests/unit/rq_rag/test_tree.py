"""The tree of paths: the authors' counts, the model's choices, what becomes of paths that fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.methods.rq_rag.protocol import ACTIONS
from langgraph_evidence.methods.rq_rag.settings import RqRagSettings
from langgraph_evidence.methods.rq_rag.state import WORK, Path, Proposal
from langgraph_evidence.methods.rq_rag.tree import (
    ROOT,
    changed,
    grow,
    in_order,
    ready,
    root_path,
    searched,
    trajectories_of,
    tried,
)

NEXT = {"choose": "chosen", "refine": "retrieve", "retrieve": "retrieved", "answer": "answered"}


def proposals(*names: Any) -> list[Proposal]:
    return [Proposal(action=name, logprob=-float(place)) for place, name in enumerate(names)]


def worked(path: Path, chosen: list[Proposal] | None = None) -> Path:
    """The path after a step that went well."""
    values: dict[str, Any] = {"stage": NEXT[path["stage"]]}
    if path["stage"] == "choose":
        values["proposals"] = chosen or []
    if path["stage"] == "refine":
        values |= {"query": path["id"], "generated": [*(path["generated"] or []), {"logprob": -1.0, "likeliest": -0.5}]}
    if path["stage"] == "retrieve":
        values["evidence"] = [path["id"]]
    if path["stage"] == "answer":
        token = {"logprob": -2.0, "likeliest": -1.0}
        values |= {"answer": "A", "generated": [*(path["generated"] or []), token], "final": [token]}
    return changed(path, **values)


def played(settings: RqRagSettings, chosen: list[Proposal] | None = None) -> tuple[dict[str, Path], list[int]]:
    """A whole tree, and how many calls each round asked for."""
    paths, calls = {ROOT: root_path()}, []
    while True:
        paths |= grow(paths, settings)
        work = ready(paths)
        if not work:
            return paths, [count for count in calls if count]
        calls.append(sum(path["stage"] != "retrieve" for path in work))
        paths |= {path["id"]: worked(path, chosen) for path in work}


@pytest.mark.parametrize(
    ("depth", "trajectories", "calls", "searches"), [(1, 4, 7, 3), (2, 13, 25, 12), (3, 40, 79, 39), (4, 121, 241, 120)]
)
def test_forced_it_is_the_authors_tree_in_depth_and_one_rounds(
    depth: int, trajectories: int, calls: int, searches: int
) -> None:
    paths, rounds = played(RqRagSettings(exploration="forced", depth=depth))
    assert len(trajectories_of(paths)) == trajectories
    assert sum(rounds) == calls
    assert len(rounds) == depth + 1
    assert sum(bool(path["query"]) for path in paths.values()) == searches


def test_chosen_it_tries_what_is_likelier_than_the_answer_and_no_more_than_the_width() -> None:
    found = proposals("decompose", "rewrite", "answer", "disambiguate")
    assert [p["action"] for p in tried(found, 4)] == ["decompose", "rewrite", "answer"]
    assert [p["action"] for p in tried(found, 2)] == ["decompose", "rewrite"]
    assert [p["action"] for p in tried(proposals("answer", "rewrite"), 4)] == ["answer"]


def test_an_answer_at_once_searches_for_nothing() -> None:
    paths, rounds = played(RqRagSettings(), proposals("answer", "rewrite"))
    assert rounds == [1, 1]
    assert not searched(paths)
    assert [t["actions"] for t in trajectories_of(paths)] == [["answer"]]


def test_the_tokens_of_a_trajectory_are_those_of_its_actions_queries_and_answer() -> None:
    paths, _ = played(RqRagSettings(depth=1), proposals("rewrite", "decompose"))
    first, second = trajectories_of(paths)
    assert first["generated"] == [0.0, -1.0, -2.0]  # the chosen action, its query, and the answer that was not chosen
    assert second["generated"] == [-1.0, -1.0, -2.0]
    assert (first["final"], first["likeliest"]) == ([-2.0], [-1.0])
    assert (first["queries"], first["evidence"]) == (["0-1"], [["0-1"]])
    forced, _ = played(RqRagSettings(depth=1, exploration="forced"))
    assert trajectories_of(forced)[0]["generated"] == [-1.0, -2.0]  # a forced action was not generated


def test_one_step_without_log_probabilities_leaves_the_trajectory_without() -> None:
    paths, _ = played(RqRagSettings(depth=1), proposals("rewrite"))
    paths["0-1"] = changed(paths["0-1"], generated=None)
    (found,) = trajectories_of(paths)
    assert (found["generated"], found["final"]) == (None, [-2.0])


def test_a_path_whose_actions_all_fail_answers_from_what_it_holds() -> None:
    settings = RqRagSettings(depth=1, exploration="chosen")
    paths = {ROOT: changed(root_path(), stage="chosen", proposals=proposals("rewrite", "decompose"))}
    paths |= grow(paths, settings)
    for name in ("0-1", "0-2"):
        assert not [path for path in ready(paths) if path["stage"] == "answer"]
        paths[name] = changed(paths[name], stage="failed", failure="unusable", why="x")
        paths |= grow(paths, settings)
    assert [(path["id"], path["stage"]) for path in ready(paths)] == [("0-3", "answer")]
    paths["0-3"] = changed(paths["0-3"], stage="failed", failure="unusable")
    assert not grow(paths, settings)
    assert [t["failure"] for t in trajectories_of(paths)] == ["unusable"] * 3


def test_where_no_call_went_through_the_answer_is_asked_for_once_more_and_once_only() -> None:
    settings = RqRagSettings(depth=1, exploration="forced")
    paths = {ROOT: root_path()}
    paths |= grow(paths, settings)
    paths |= {path["id"]: changed(path, stage="failed", failure="lost") for path in ready(paths)}
    paths |= grow(paths, settings)
    assert [path["id"] for path in ready(paths)] == ["0-5"]
    paths["0-5"] = changed(paths["0-5"], stage="failed", failure="lost")
    assert not grow(paths, settings)


@given(st.lists(st.lists(st.sampled_from(ACTIONS), unique=True), max_size=40), st.integers(0, 3), st.integers(1, 4))
def test_any_choices_end_in_trajectories_of_bounded_depth_in_the_order_of_the_tree(
    choices: Any, depth: int, width: int
) -> None:
    settings, paths, left = RqRagSettings(depth=depth, width=width), {ROOT: root_path()}, iter(choices)
    while True:
        paths |= grow(paths, settings)
        work = ready(paths)
        if not work:
            break
        assert len({path["stage"] for path in work} - {*WORK}) == 0
        paths |= {path["id"]: worked(path, proposals(*next(left, []))) for path in work}
    found = trajectories_of(paths)
    assert found
    for trajectory in found:
        assert trajectory["failure"] == ""
        assert trajectory["actions"][-1] == "answer"
        assert len(trajectory["queries"]) == len(trajectory["evidence"]) == len(trajectory["actions"]) - 1 <= depth
    assert [t["id"] for t in found] == [path["id"] for path in in_order(paths) if path["stage"] == "answered"]
    assert all(sum(p["parent"] == name for p in paths.values()) <= width for name in paths)
