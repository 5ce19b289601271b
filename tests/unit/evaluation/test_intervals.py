from __future__ import annotations

import math

import pytest

from langgraph_evidence.evaluation.intervals import bootstrap, paired_difference


def test_an_interval_holds_its_mean_and_narrows_with_more_questions() -> None:
    few, many = bootstrap([0.0, 1.0] * 10), bootstrap([0.0, 1.0] * 1000)
    assert few.mean == many.mean == 0.5
    assert few.low < 0.5 < few.high
    # the standard error of a share of 1/2 over 2000 questions is 0.0112, so the interval is about 0.044 wide
    assert many.high - many.low == pytest.approx(0.044, abs=0.006)


def test_same_seed_same_interval_and_no_value_no_interval() -> None:
    assert bootstrap([0.1, 0.9, 0.4], seed=3) == bootstrap([0.1, 0.9, 0.4], seed=3)
    assert bootstrap([0.7] * 5) == pytest.approx((0.7, 0.7, 0.7, 5))
    assert math.isnan(bootstrap([]).mean)


def test_pairs_show_a_difference_that_the_single_intervals_hide() -> None:
    base = [n / 100 for n in range(100)]
    better = [value + 0.05 for value in base]
    assert bootstrap(better).low < bootstrap(base).high
    assert paired_difference(better, base) == pytest.approx((0.05, 0.05, 0.05, 100))
