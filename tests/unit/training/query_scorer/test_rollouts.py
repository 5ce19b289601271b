"""The query scorer's rounds out of FuRePA's own course, on a question of four passages."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.offline_planner.data import Case
from langgraph_evidence.training.query_scorer import train
from langgraph_evidence.training.query_scorer.data import read_pools
from langgraph_evidence.training.query_scorer.evaluate import measure_query_scorer
from langgraph_evidence.training.query_scorer.rollouts import Stage, course, pool_at, read_course
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from pathlib import Path

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


PEOPLE = "Bob Cleo Dora Egon Fritz Greta Hans Ida Jane".split()


def row(number: int) -> dict[str, Any]:
    """A film, its director, and eight others."""
    film, director, *others = f"Film {number}", *PEOPLE[number % 9 :], *PEOPLE[: number % 9]
    people = [[name, [f"{name} is an artist who was born in Town {name[0]}."]] for name in (director, *others)]
    question = f"Where was the director of {film} born?"
    context = [[film, [f"{film} stars {others[0]}.", f" {director} directed it."]], *people]
    return {"id": f"q{number}", "question": question, "context": context, "gold_idx": [0, 1], "fold": number % 8}


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    names = ["questions/break_qdmr_highlevel_dev.jsonl", *(name for names in FILES.values() for name in names)]
    for name in names:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [row(number) for number in range(16)] if name == "multihop/hotpotqa_dev.jsonl" else []
        path.write_text("\n".join(map(json.dumps, rows)))
    return DataFolder(tmp_path / "data")


def test_training_takes_the_courses_of_the_questions_it_has_pools_of(folder: DataFolder, encoder: Any) -> None:
    rounds = train.training_rounds(encoder, folder, seed=0, limit=1)
    pools = read_pools(folder, range(7))
    random.Random(1).shuffle(pools)
    question = pools[0].question
    courses = [
        pool
        for temperature in train.TEMPERATURES
        for pool in read_course(folder, range(7), questions={question}, temperature=temperature)
    ]
    assert courses
    assert {pool.question for pool in courses} == {question}
    assert len(rounds) == 4 + len(courses)  # a pool is one round whole and three in parts


def test_the_figures_in_the_graph_stand_beside_the_others(folder: DataFolder, encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=1, measure_every=0)
    result = train.train_query_scorer(encoder, folder, tmp_path / "run", options=options)
    figures = result.metrics
    assert figures["score"] == pytest.approx(figures["f1"] + figures["chosen"] + figures["graph chosen"])
    assert figures["graph oracle"] >= figures["graph chosen"] > 0
    weights = tmp_path / "run" / "query_scorer.safetensors"
    rows: Any = measure_query_scorer(encoder, folder, [7], source=weights)
    assert rows["trained, in the graph"]["chosen"] == pytest.approx(figures["graph chosen"])
    assert rows["similarity, in the graph"]["oracle"] == pytest.approx(figures["graph oracle"])
    assert "question" not in rows["trained, in the graph"]
