"""Rollouts are runs of FuRePA's graph: its settings and its assessor decide, here on a question of four passages."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from toy_training_data import clock_case

from langgraph_evidence.llm.offline.hops import NextSteps
from langgraph_evidence.methods.furepa import FurepaSettings
from langgraph_evidence.training.offline_planner import Case, Order, Search, play
from langgraph_evidence.training.offline_planner.rollouts import make_readiness

Asks = Callable[..., list[float]]


@dataclass(frozen=True)
class Sampled(NextSteps):
    """Plans that note the temperatures they are sampled at."""

    noted: list[float]

    def query(self, temperature: float, rng: random.Random) -> str:
        self.noted.append(temperature)
        return super().query(temperature, rng)


@pytest.fixture
def case() -> Case:
    return clock_case()


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Asks:
    """Has the planner ask the given queries, by how much it holds, and answer at so many passages."""

    def asks(*queries: str | tuple[str, ...], ready_at: int = 9) -> list[float]:
        noted: list[float] = []

        def plan(_question: str, evidence: tuple[str, ...], **_: Any) -> NextSteps:
            found = queries[min(len(evidence), len(queries) - 1)]
            candidates = (found,) if isinstance(found, str) else found
            scored = tuple((query, 0.0) for query in candidates)
            return Sampled(scored, ready=float(len(evidence) >= ready_at), known="", noted=noted)

        monkeypatch.setattr("langgraph_evidence.training.offline_planner.rollouts.plan", plan)
        return noted

    return asks


def rounds_of(temperatures: list[float]) -> list[float]:
    """One of each five: the samples of an iteration have one temperature."""
    assert all(len(set(temperatures[first : first + 5])) == 1 for first in range(0, len(temperatures), 5))
    return temperatures[::5]


def test_a_rollout_by_hand(case: Case, asks: Asks) -> None:
    temperatures = asks("The Clock", "Ann Example", ready_at=2)
    rollout = play(case)
    assert rollout.searches == (Search((), ("The Clock",)), Search((0,), ("Ann Example",)))
    assert rollout.held == (0, 2)
    assert rollout.answered
    assert case.recall(rollout.held) == 1.0
    assert rounds_of(temperatures) == [0.2, 0.2]


def test_one_that_may_not_answer_goes_on_to_the_last_iteration(case: Case, asks: Asks) -> None:
    asks("The Clock", "Ann Example", "Bob Sample", "The River tower", "nothing more", ready_at=2)
    rollout = play(case, may_answer=False)
    assert rollout.held == (0, 2, 1, 3)
    assert not rollout.answered
    assert rollout.searches[-1] == Search((0, 2, 1, 3), ("nothing more",))
    assert play(case, may_answer=False, settings=FurepaSettings(iterations=3)).held == (0, 2, 1)


def test_one_that_needs_no_more_is_broken_off(case: Case, asks: Asks) -> None:
    temperatures = asks("The Clock", "Ann Example", "Bob Sample")
    assert play(case, until_complete=True).held == (0, 2)
    assert len(temperatures) <= 15


@pytest.mark.parametrize(("step", "temperatures"), [(0.8, [0.2, 1.0, 1.5, 1.5]), (0.5, [0.2, 0.7, 1.2, 1.5])])
def test_a_search_that_finds_nothing_warms_as_the_settings_say(
    case: Case, asks: Asks, step: float, temperatures: list[float]
) -> None:
    noted = asks("xylophone")
    rollout = play(case, settings=FurepaSettings(iterations=4, temperature_step=step))
    assert rollout.searches == (Search((), ("xylophone",)),)  # once executed, it is filtered
    assert rollout.held == ()
    assert rounds_of(noted) == pytest.approx(temperatures)


def test_the_settings_filter_says_which_query_is_new(case: Case, asks: Asks) -> None:
    asks("The Clock film", "The Clock film Ann")
    # One of seven words differs: more than the shipped share, less than the paper's.
    assert len(play(case).searches) == 2
    assert len(play(case, settings=FurepaSettings(differing=1.0)).searches) == 1


def test_a_change_of_the_assessor_changes_the_rollouts(case: Case, asks: Asks, monkeypatch: pytest.MonkeyPatch) -> None:
    asks(("The Clock", "Bob Sample"))
    assert any(len(search.queries) == 2 for search in play(case).searches)
    monkeypatch.setattr("langgraph_evidence.methods.furepa.assessor.filter_queries", lambda *_, **__: [])
    assert play(case).searches == ()


def test_the_order_says_which_query_is_executed(case: Case, asks: Asks) -> None:
    asks(("The Clock", "Bob Sample", "Cleo Figure", "Ann Example"))
    warm = FurepaSettings(iterations=1, samples=20)
    drawn = [play(case, settings=warm, order=Order(random.Random(number))).searches[0].queries for number in range(8)]
    assert len({queries[0] for queries in drawn}) > 1
    assert len({frozenset(queries) for queries in drawn}) == 1
    assert play(case, settings=warm) == play(case, settings=warm)


def test_each_seed_has_samples_of_its_own(case: Case, asks: Asks) -> None:
    asks(tuple(f"word{number} film" for number in range(50)))
    several = FurepaSettings(iterations=1, samples=10)
    asked = [set(play(case, seed=seed, settings=several).searches[0].queries) for seed in (0, 1, 2)]
    # Seeds that follow one another would leave nine of ten samples the same.
    assert all(len(one & other) < 6 for one, other in pairwise(asked))


def test_nothing_reads_an_answer_out(case: Case, asks: Asks, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError

    for name in ("models.default_reader", "models.default_query_scorer", "models.default_verifier"):
        monkeypatch.setattr(f"langgraph_evidence.{name}", read)
    asks("The Clock", "Ann Example", ready_at=2)
    assert play(case).answered
    assert not play(case, settings=FurepaSettings(iterations=1)).answered


def test_readiness_is_told_at_every_state_from_two_passages_on(case: Case, asks: Asks) -> None:
    asks("The Clock", "Bob Sample", "Ann Example", ready_at=2)
    rows = make_readiness([case], tables=None)  # type: ignore[arg-type]  # the planner is the fixture's
    assert [(row.held, row.complete) for row in rows] == [(2, False), (3, True)]
    assert rows[0].features["three"] == 0.0
    assert rows[1].features["three"] == 1.0
