"""What a run may spend and has spent, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.budget import Budget, spent, total_usage
from langgraph_evidence.types import Usage, no_usage


def row(calls: int = 1, cached: int = 0, tokens: int = 10, seconds: float = 1.0) -> Usage:
    return Usage(calls=calls, cached_calls=cached, input_tokens=tokens, output_tokens=1, seconds=seconds)


def test_usage_adds_up() -> None:
    assert total_usage([]) == no_usage()
    total = total_usage([row(), row(calls=2, cached=1, tokens=5, seconds=0.5)])
    assert total == Usage(calls=3, cached_calls=1, input_tokens=15, output_tokens=2, seconds=1.5)


def test_a_round_takes_as_long_as_its_slowest_call() -> None:
    ledger = {"0:propose.0": row(seconds=1.0), "0:propose.1": row(seconds=3.0), "0:score.0": row(calls=0, seconds=0.5)}
    assert spent(ledger)["seconds"] == 3.5
    assert spent(ledger)["calls"] == 2


@pytest.mark.parametrize(
    ("budget", "calls", "allowed"),
    [
        (Budget(), 10**6, True),
        (Budget(calls=5), 3, True),  # 2 spent, cached ones not counted
        (Budget(calls=5), 4, False),
        (Budget(tokens=33), 1, False),
        (Budget(tokens=34), 1, True),
        (Budget(seconds=3.0), 1, False),
        (Budget(seconds=3.1), 1, True),
    ],
)
def test_a_budget_allows_what_it_still_covers(budget: Any, calls: Any, allowed: Any) -> None:
    so_far = total_usage([row(), row(), row(cached=1)])
    assert budget.allows(so_far, calls=calls) is allowed


def test_seconds_left() -> None:
    assert Budget().seconds_left(row()) is None
    assert Budget(seconds=5).seconds_left(row(seconds=2.0)) == 3.0
    assert Budget(seconds=1).seconds_left(row(seconds=2.0)) == 0.0
