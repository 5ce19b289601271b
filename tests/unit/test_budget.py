"""What a run may spend and has spent, worked out by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.budget import UNLIMITED, Budget, pace, spent, took, total_usage
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


@pytest.mark.parametrize("seconds", [*itertools.permutations([1.0, 3.0, 2.0])])
def test_the_slowest_call_counts_wherever_it_stands(seconds: Any) -> None:
    rounds = [("0", seconds), ("1", seconds[:2]), ("1:late", seconds[2:])]
    ledger = {f"{name}.{n}": row(seconds=each) for name, times in rounds for n, each in enumerate(times)}
    assert spent(ledger)["seconds"] == 3.0 + max(seconds[:2]) + seconds[2]
    assert pace({f"0.{n}": row(seconds=each) for n, each in enumerate(seconds)}) == 3.0


# Two calls that count and a cached one, one after another, a second each; 30 tokens in and 3 out.
LEDGER = {"0.a": row(), "1.a": row(), "2.a": row(cached=1)}


@pytest.mark.parametrize(
    ("budget", "kept", "calls"),
    [
        (Budget(), 1, 9),
        (Budget(calls=20), 1, 9),
        (Budget(calls=10), 1, 7),  # 8 are left, one is kept back
        (Budget(calls=10), 0, 8),
        (Budget(calls=3), 1, 0),
        (Budget(calls=1), 0, 0),  # overspent is nothing left, never less
        (Budget(tokens=33), 0, 0),
        (Budget(tokens=76), 0, 0),  # a call took 11 and may take 22: another and the last answer do not fit into 43
        (Budget(tokens=99), 0, 2),
        (Budget(seconds=3.0), 0, 0),
        (Budget(seconds=5.0), 0, 0),  # a round took 1 s: another and the last answer do not fit into 2 s
        (Budget(seconds=5.1), 1, 9),
        (Budget(seconds=30.0), 1, 9),
        (Budget(calls=4, tokens=99, seconds=30.0), 1, 1),
    ],
)
def test_as_many_calls_as_the_budget_still_covers(budget: Any, kept: Any, calls: Any) -> None:
    assert budget.affordable(LEDGER, wanted=9, kept=kept) == calls


def test_the_last_answer_takes_what_was_kept_for_it() -> None:
    assert Budget(seconds=3.1).affordable(LEDGER, wanted=1, kept=0, last=True) == 1
    assert Budget(seconds=3.0).affordable(LEDGER, wanted=1, kept=0, last=True) == 0
    assert Budget(calls=3).affordable(LEDGER, wanted=1, kept=0, last=True) == 1
    assert Budget(tokens=34).affordable(LEDGER, wanted=1, kept=0, last=True) == 1


def test_what_is_left_is_shared_among_the_calls_of_a_round() -> None:
    assert Budget().share(LEDGER, among=3, kept=1) == UNLIMITED
    assert Budget(calls=12).share(LEDGER, among=3, kept=1).calls == 3  # 10 are left, 9 of them to share
    assert Budget(calls=12).share(LEDGER, among=5, kept=1).calls == 1
    assert Budget(calls=12).share(LEDGER, among=5, kept=0).calls == 2
    assert Budget(calls=3).share(LEDGER, among=9, kept=0).calls == 1  # one try each, however many are together
    assert Budget(seconds=8.0).share(LEDGER, among=1, kept=0, last=True).seconds == 5.0
    assert Budget(seconds=8.0).share(LEDGER, among=3, kept=1).seconds == 4.0  # as long as the last round is kept back
    assert Budget(seconds=20.0).share(LEDGER, among=3, kept=1).seconds == 15.0  # or a tenth of the whole
    assert Budget(seconds=1.0).share(LEDGER, among=3, kept=1).seconds == 0.0


def test_the_pace_is_that_of_the_last_round_that_asked() -> None:
    assert pace({}) == 0.0
    ledger = {"0:propose.0": row(seconds=9.0), "1:propose.0": row(seconds=2.0), "1:propose.1": row(seconds=3.0)}
    assert pace({**ledger, "1:score.0": took(7.0)}) == 3.0


@given(st.integers(0, 40), st.integers(1, 9), st.integers(0, 2), st.integers(0, 12))
def test_more_calls_never_allow_fewer(calls: int, wanted: int, kept: int, used: int) -> None:
    ledger = {f"{n}.a": row() for n in range(used)}
    fewer = Budget(calls=calls).affordable(ledger, wanted=wanted, kept=kept)
    more = Budget(calls=calls + 1).affordable(ledger, wanted=wanted, kept=kept)
    assert 0 <= fewer <= more <= wanted
    assert used + fewer + kept <= calls or fewer == 0
