"""Intervals over resampled questions."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.training.base.intervals import with_intervals


def test_an_interval_of_a_ratio_resamples_questions_as_a_whole() -> None:
    rows = [{"right": float(number), "pairs": float(number)} for number in range(1, 9)]

    def share(means: Any) -> Any:
        return {"share": means["right"] / means["pairs"], "right": means["right"]}

    metrics: Any = with_intervals(rows, share, of=["share", "right"])
    assert metrics["share"] == 1
    assert metrics["share_interval"] == pytest.approx([1, 1])
    low, high = metrics["right_interval"]
    assert 1 < low < metrics["right"] == 4.5 < high < 8
    assert "share_interval" not in with_intervals(rows, share, of=["right"])
    assert with_intervals([], share, of=["share"]) == {}
