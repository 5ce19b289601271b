"""Risk against coverage and calibration, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.trust.calibration import calibration_error, reliability, reliability_svg
from langgraph_evidence.evaluation.trust.risk import (
    Guess,
    area_under_risk,
    best_area,
    declined_by,
    declining,
    risk_at,
    threshold_at_cost,
    threshold_for_declined,
)


def test_risk_is_the_share_of_wrong_ones_among_the_surest() -> None:
    # Surest first: right, wrong, right, wrong.
    risk = risk_at([0.9, 0.2, 0.7, 0.4], [True, False, False, True])
    assert risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4])
    assert area_under_risk([0.9, 0.2, 0.7, 0.4], [True, False, False, True]) == pytest.approx(
        (1 / 2 + 1 / 3 + 1 / 2) / 4
    )


def test_equal_scores_stand_in_every_order_at_once() -> None:
    assert area_under_risk([0.5] * 4, [True, False, True, False]) == pytest.approx(0.5)
    assert area_under_risk([0.5] * 4, [False, False, True, True]) == pytest.approx(0.5)


def test_no_score_does_better_than_all_right_ones_first() -> None:
    assert best_area([False, True, False, True]) == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_a_score_is_needed_for_each_answer() -> None:
    with pytest.raises(InvalidInput, match="one score each"):
        risk_at([], [])


def guess(score: Any, *, right: Any = False, answerable: Any = True, group: Any = "g") -> Any:
    return Guess(group, answerable, right, score)


def test_a_threshold_costs_no_more_right_answers_than_it_may() -> None:
    guesses = [guess(score / 10, right=True) for score in range(10)] + [guess(0.95)]
    edge = threshold_at_cost(guesses, 0.2)
    assert edge == pytest.approx(0.2)
    assert sum(g.right and g.score < edge for g in guesses) == 2


def test_a_threshold_declines_as_many_unanswerable_as_it_must() -> None:
    guesses = [guess(score / 10, answerable=False) for score in range(10)]
    edge = threshold_for_declined(guesses, 0.7)
    assert sum(g.score < edge for g in guesses) == 7


def test_a_threshold_needs_something_to_be_chosen_by() -> None:
    with pytest.raises(InvalidInput, match="No answer is right"):
        threshold_at_cost([guess(0.5)])
    with pytest.raises(InvalidInput, match="Every question is answerable"):
        threshold_for_declined([guess(0.5)])


def test_each_half_is_declined_by_the_threshold_of_the_other() -> None:
    groups = [str(number) for number in range(40)]
    # A group's right guess scores the more the later it is, its unanswerable one always less than any.
    guesses = [guess(0.5 + int(group) / 100, right=True, group=group) for group in groups]
    guesses += [guess(0.1, answerable=False, group=group) for group in groups]
    found = declining(guesses, threshold_at_cost)
    assert found.declined == 1
    assert 0 < found.cost < 0.25
    assert len(set(found.thresholds)) == 2
    assert found.risk == 0
    assert found.given == pytest.approx(0.5 * (1 - found.cost))


def test_shares_of_nothing_are_no_number() -> None:
    found = declined_by([(guess(0.5, right=True), True)], (0.1,))
    assert found.declined != found.declined
    assert (found.cost, found.given, found.risk) == (0, 1, 0)


def test_reliability_is_by_bins_and_weighs_them() -> None:
    bins = reliability([0.05, 0.15, 0.15, 1.0], [False, True, False, True])
    assert [row.answers for row in bins] == [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert bins[1].right == 0.5
    # 1/4 of 0.05, 2/4 of 0.35, 1/4 of 0.
    assert calibration_error(bins) == pytest.approx(0.25 * 0.05 + 0.5 * 0.35)
    assert calibration_error([]) == 0
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        reliability([1.2], [True])


def test_the_diagram_has_a_bar_for_every_bin_that_has_answers() -> None:
    picture = reliability_svg(reliability([0.05, 0.15, 0.95], [False, True, True]), title="A < B", score="support")
    assert picture.startswith("<svg")
    assert picture.count("<circle") == 3
    assert "A &lt; B" in picture
