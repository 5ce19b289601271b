"""The query scorer's rounds out of FuRePA's own course, on a question of four passages."""

from __future__ import annotations

import pytest

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.planner_data import Case
from langgraph_evidence.training.query_course import Stage, course, pool_at
from langgraph_evidence.types import Passage

QUESTION = "Where was the director of The Clock born?"
TEXTS = {
    "The Clock": "The Clock is a film. It stars Bob Sample. Ann Example directed it.",
    "Bob Sample": "Bob Sample is an artist who was born in Rome.",
    "Ann Example": "Ann Example is an artist who was born in Paris.",
    "The River": "The River is a film of a tower and its clock, directed by Cleo Figure.",
}
PASSAGES = [Passage(id=str(number), title=title, text=text) for number, (title, text) in enumerate(TEXTS.items())]


@pytest.fixture
def case() -> Case:
    return Case("x", QUESTION, tuple(TEXTS.values()), frozenset({0, 2}), BM25Retriever(passages=PASSAGES))


def test_what_is_held_is_neither_gold_nor_searched(case: Case) -> None:
    queries = ("The Clock", "Ann Example", "Rome")
    before, after = pool_at(case, Stage((), queries)), pool_at(case, Stage((0,), queries))
    assert [before.gold_rank(index) for index in range(3)] == [1, 1, 2]
    assert before.gold == {0, 2}
    # Without the first passage the others move up by one: Ann Example, once the third, is now the second of three.
    assert after.passages == tuple(TEXTS.values())[1:]
    assert after.gold == {1}
    assert all(sorted(ranking) == [0, 1, 2] for ranking in after.rankings)
    # "The Clock" found the held passage first; of what is left, The River alone has a word of it.
    assert case.ranking("The Clock")[:2] == (0, 3)
    assert after.rankings[0] == (2, 0, 1)
    assert [after.gold_rank(index) for index in range(3)] == [3, 1, 2]
    assert after.labels(0) == [1.0, 1.0, 1.0]
    assert after.labels(1) == [0.0, 1.0, 0.0]


def test_a_course_asks_what_the_offline_model_asks_of_what_it_holds(case: Case) -> None:
    stages = [stage for seed in range(20) for stage in course(case, seed=seed, temperature=1.5)]
    assert {stage.held for stage in stages} >= {(), (0,)}
    for stage in stages:
        possible = {candidate.query for candidate in proposed(analyse(QUESTION), case.evidence(stage.held))}
        assert len(stage.queries) > 1
        assert possible.issuperset(stage.queries)
        assert not case.gold.issubset(stage.held)
        assert pool_at(case, stage).gold
    assert "Ann Example" in {query for stage in stages for query in stage.queries if stage.held}
    assert list(course(case, seed=3)) == list(course(case, seed=3))
