from __future__ import annotations

import pytest

from langgraph_evidence.evaluation.passages import score_passages


def test_recall_precision_and_all_found() -> None:
    assert score_passages(["3", "3", "9"], ["3", "4"]) == pytest.approx((1 / 2, 1 / 2, 1 / 2, 0.0))
    assert score_passages(["4", "3", "9", "1"], ["3", "4"]) == pytest.approx((1.0, 1 / 2, 2 / 3, 1.0))
    assert score_passages([], ["3"]) == (0.0, 0.0, 0.0, 0.0)
