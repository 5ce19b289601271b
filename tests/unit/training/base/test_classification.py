"""Metrics of a yes-or-no decision, against hand counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.training.base.classification import auroc, balanced_accuracy, best_threshold, bootstrap

TRUTH = np.array([True, True, False, False])


def test_balanced_accuracy_by_hand() -> None:
    assert balanced_accuracy(np.array([True, False, False, False]), TRUTH) == 0.75
    assert balanced_accuracy(np.array([True] * 4), TRUTH) == 0.5


def test_auroc_counts_ties_half() -> None:
    # Of the four yes-no pairs 0.9 wins two; 0.5 loses none, ties one, wins one.
    assert auroc(np.array([0.9, 0.5, 0.5, 0.1]), TRUTH) == pytest.approx(3.5 / 4)
    assert auroc(np.array([0.5] * 4), TRUTH) == 0.5


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_the_share_of_pairs_in_order(rows: Any) -> None:
    scores, truth = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    if truth.all() or not truth.any():
        with pytest.raises(InvalidInput):
            auroc(scores, truth)
        return
    wins = [(yes > no) + (yes == no) / 2 for yes in scores[truth] for no in scores[~truth]]
    assert auroc(scores, truth) == pytest.approx(np.mean(wins))


def test_one_threshold_serves_all_sources() -> None:
    scores = np.array([0.9, 0.6, 0.4, 0.1, 0.7, 0.2])
    truth = np.array([True, True, False, False, True, False])
    cut = best_threshold(scores, truth, ["a", "a", "a", "a", "b", "b"])
    assert 0.4 < cut < 0.6
    with pytest.raises(InvalidInput):
        best_threshold(scores, np.array([True] * 6), ["a"] * 6)


def test_an_interval_holds_the_figure_and_is_the_same_twice() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.5
    scores = truth + rng.normal(0, 1, 200)
    low, high = bootstrap(auroc, scores, truth)
    assert low < auroc(scores, truth) < high
    assert (low, high) == bootstrap(auroc, scores, truth)
