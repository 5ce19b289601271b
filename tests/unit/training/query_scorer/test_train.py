"""The query scorer's training at toy size, its loss and its figures worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from toy_training_data import question_row, written

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.query_scorer.head import ListwiseQueryScorer
from langgraph_evidence.models.query_scorer.scorer import SimilarityScorer
from langgraph_evidence.training.query_scorer import train
from langgraph_evidence.training.query_scorer.data import Pool, read_pools
from langgraph_evidence.training.query_scorer.evaluate import measure_pools, measure_query_scorer, pool_rows


def test_labels_run_to_the_first_gold_passage() -> None:
    pool = Pool("x", "q", ("a", "b", "c", "d"), frozenset({0, 3}), ("q", "r"), ((2, 3, 0, 1), (0, 1, 2, 3)))
    assert [pool.gold_rank(0), pool.gold_rank(1)] == [2, 1]
    assert pool.labels(0) == [0.0, 0.0, 1.0, 1.0]
    assert pool.labels(1) == [1.0, 0.0, 0.0, 0.0]


def test_the_loss_is_equation_9() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [20.0, -20.0, -20.0, -20.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    loss = train.scorer_loss(logits, labels, torch.tensor([1.0, 1.0]), alpha=0.1)
    # BCE: four times ln 2 and four times about 0, over eight; 1 / sum s is 1/2 and 1, so the mean square is 0.125.
    assert float(loss) == pytest.approx(0.5 * np.log(2) + 0.1 * 0.125, abs=1e-5)


def test_pools_hold_hops_with_their_answers_and_are_the_same_for_a_seed(folder: Any) -> None:
    pools = read_pools(folder, [0], queries=50)
    assert pools == read_pools(folder, [0], queries=50)
    row = question_row(0, 0)
    assert pools[0].queries[0] == row["question"]
    assert f"where was {row['decomposition'][0]['answer']} born" in pools[0].queries
    assert all(sorted(ranking) == [0, 1, 2, 3] for ranking in pools[0].rankings)
    assert not read_pools(folder, [9])


def test_the_query_scorer_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=4, measure_every=0, batch_tokens=400)
    result = train.train_query_scorer(encoder, folder, tmp_path / "run", options=options)
    history = result.progress.history
    assert history[-1]["loss"] < history[0]["loss"]
    scorer = ListwiseQueryScorer.load(tmp_path / "run" / "query_scorer.safetensors", encoder=encoder)
    assert scorer.trained
    pools = read_pools(folder, [7])
    figures = measure_pools(scorer, pools)
    assert figures["f1"] > measure_pools(SimilarityScorer(encoder), pools)["f1"]
    assert figures["oracle"] >= figures["chosen"] >= 0
    scores = scorer.score(["Red King", "dog"], ["Red King: a film", "Dog City: the river", "lion"])
    assert [len(row) for row in scores] == [3, 3]
    assert all(0 <= value <= 1 for row in scores for value in row)
    weights = tmp_path / "run" / "query_scorer.safetensors"
    rows: Any = measure_query_scorer(encoder, folder, [7], source=weights)
    assert {name: rows["trained"][name] for name in figures} == pytest.approx(figures)
    assert {"trained, HotpotQA", "similarity, HotpotQA"} < set(rows)
    low, high = rows["trained"]["chosen_interval"]
    assert low <= figures["chosen"] <= high
    assert scorer.score([], ["a"]) == []
    assert scorer.score(["a"], []) == [[]]


def test_true_labels_teach_the_query_scorer_more_than_shuffled_ones(encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=4, measure_every=0, batch_tokens=400)
    found: list[float] = []
    for shuffled in (False, True):
        place = tmp_path / str(shuffled)
        data = written(place / "data", shuffled=shuffled)
        train.train_query_scorer(encoder, data, place, options=options)
        scorer = ListwiseQueryScorer.load(place / "query_scorer.safetensors", encoder=encoder)
        found.append(measure_pools(scorer, read_pools(data, [7]))["f1"])
    assert found[0] > found[1]


def test_the_figures_of_queries_are_worked_by_hand() -> None:
    pools = [
        Pool("x", "q", ("a", "b"), frozenset({1}), ("q", "r"), ((0, 1), (1, 0))),
        Pool("x", "s", ("a", "b"), frozenset({0}), ("s", "t", "u"), ((1, 0), (1, 0), (1, 0))),
    ]
    rows = pool_rows(Likes("r"), pools)
    figures = measure_pools(Likes("r"), pools)
    # The first pool's second query finds its passage first; no query of the second pool does.
    assert (rows[0]["chosen"], rows[0]["question"], rows[0]["oracle"]) == (1.0, 0.5, 1.0)
    assert figures["chosen"] == figures["oracle"] == 0.75
    assert figures["question"] == 0.5
    # "r" finds passage b and no other, as it should; the four others find nothing where something is to be found.
    assert figures["f1"] == pytest.approx(1 / 5)
    with pytest.raises(InvalidInput, match="No question"):
        measure_pools(Likes("r"), [])


class Likes:
    trained = False

    def __init__(self, query: str) -> None:
        self.query = query

    def score(self, queries: Any, passages: Any) -> Any:
        return [[float(query == self.query and passage == "b") for passage in passages] for query in queries]
