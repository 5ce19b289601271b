"""The query scorer's rounds out of rollouts of FuRePA's graph, on a question of four passages."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from toy_training_data import CLOCK_QUESTION, CLOCK_TEXTS, clock_case

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.hops import NextSteps
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.methods.furepa import FurepaSettings
from langgraph_evidence.training.base import FILES
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.offline_planner import Case, Search, play
from langgraph_evidence.training.query_scorer import train
from langgraph_evidence.training.query_scorer.data import read_pools
from langgraph_evidence.training.query_scorer.evaluate import measure_query_scorer
from langgraph_evidence.training.query_scorer.rollouts import pool_at, read_rollouts, scored_searches

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = tuple(CLOCK_TEXTS.values())


@pytest.fixture
def case() -> Case:
    return clock_case()


def test_what_is_held_is_neither_gold_nor_searched(case: Case) -> None:
    queries = ("The Clock", "Ann Example", "Rome")
    before, after = pool_at(case, Search((), queries)), pool_at(case, Search((0,), queries))
    assert [before.gold_rank(index) for index in range(3)] == [1, 1, 2]
    assert before.gold == {0, 2}
    # Without the first passage the others move up by one: Ann Example, once the third, is now the second of three.
    assert after.passages == TEXTS[1:]
    assert after.gold == {1}
    assert all(sorted(ranking) == [0, 1, 2] for ranking in after.rankings)
    # "The Clock" found the held passage first; of what is left, The River alone has a word of it.
    assert case.ranking("The Clock")[:2] == (0, 3)
    assert after.rankings[0] == (2, 0, 1)
    assert [after.gold_rank(index) for index in range(3)] == [3, 1, 2]
    assert after.labels(0) == [1.0, 1.0, 1.0]
    assert after.labels(1) == [0.0, 1.0, 0.0]


def test_the_scored_searches_ask_what_the_offline_model_asks_of_what_is_held(case: Case) -> None:
    warm = FurepaSettings(temperature=1.5)
    searches = [search for seed in range(12) for search in scored_searches(case, seed=seed, settings=warm)]
    assert {search.held for search in searches} >= {(), (0,)}
    for search in searches:
        possible = {candidate.query for candidate in proposed(analyse(CLOCK_QUESTION), case.evidence(search.held))}
        assert len(search.queries) > 1
        assert possible.issuperset(search.queries)
        assert not case.gold.issubset(search.held)
        assert pool_at(case, search).gold
    assert "Ann Example" in {query for search in searches for query in search.queries if search.held}
    assert scored_searches(case, seed=3, settings=warm) == scored_searches(case, seed=3, settings=warm)


def test_any_of_the_queries_may_be_executed_not_the_first_sampled_alone(case: Case) -> None:
    warm = FurepaSettings(temperature=1.5)
    sampled = [play(case, seed=seed, settings=warm, may_answer=False).searches[0].queries for seed in range(8)]
    drawn = [scored_searches(case, seed=seed, settings=warm)[0].queries for seed in range(8)]
    assert list(map(set, drawn)) == list(map(set, sampled))
    assert {one == other for one, other in zip(drawn, sampled, strict=True)} == {True, False}


@pytest.mark.parametrize(("differing", "asked"), [(0.05, 1), (1.0, 0)])
def test_the_filter_of_the_settings_says_what_is_scored(
    case: Case, monkeypatch: pytest.MonkeyPatch, differing: float, asked: int
) -> None:
    plans = NextSteps((("film tower alpha", 0.0), ("film tower beta", 0.0)), ready=0.0, known="")
    monkeypatch.setattr("langgraph_evidence.training.offline_planner.rollouts.plan", lambda *_, **__: plans)
    searches = scored_searches(case, seed=0, settings=FurepaSettings(differing=differing, iterations=1))
    assert len(searches) == asked


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


def test_training_takes_the_rollouts_of_the_questions_it_has_pools_of(folder: DataFolder, encoder: Any) -> None:
    rounds = train.training_rounds(encoder, folder, seed=0, limit=1)
    pools = read_pools(folder, range(7))
    random.Random(1).shuffle(pools)
    question = pools[0].question
    searches = [
        pool
        for settings in (FurepaSettings(temperature=temperature) for temperature in train.TEMPERATURES)
        for pool in read_rollouts(folder, range(7), questions={question}, settings=settings)
    ]
    assert searches
    assert {pool.question for pool in searches} == {question}
    assert len(rounds) == 4 + len(searches)  # a pool is one round whole and three in parts


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
