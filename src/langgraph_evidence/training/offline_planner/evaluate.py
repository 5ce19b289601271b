"""The offline planner's figures: what its rollouts find, and whether it stops when it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.llm.offline.weights import Tables, shipped_tables, weigh
from langgraph_evidence.training.offline_planner.data import Case, read_cases
from langgraph_evidence.training.offline_planner.rollouts import make_readiness, play

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.training.base import DataFolder
    from langgraph_evidence.training.offline_planner.rollouts import Readiness, Rollout

_ROLLOUTS = 3


def measure_planner(cases: Sequence[Case], tables: Tables, *, seed: int = 0) -> dict[str, dict[str, float]]:
    """Figures of each data set and of all questions.

    `recall` is of the evidence of rollouts, several a question, since chance moves one set of them by more than a
    point; `one shot` of as many passages by the question alone; `ready` is the accuracy of stopping at the states of
    rollouts that never answer, `always` the share of the commoner truth there.
    """
    played = [(case, play(case, tables, seed=seed + number)) for number in range(_ROLLOUTS) for case in cases]
    states = make_readiness(cases, tables, seed=seed)
    figures = {}
    for name in (*dict.fromkeys(case.source for case in cases), "all"):
        chosen = [(case, run) for case, run in played if name in {case.source, "all"}]
        figures[name] = _figures(chosen, [state for state in states if name in {state.source, "all"}], tables)
    return figures


def _figures(played: Sequence[tuple[Case, Rollout]], states: Sequence[Readiness], tables: Tables) -> dict[str, float]:
    right = [(weigh(state.features, tables.ready) >= 0) == state.complete for state in states]
    complete = _mean([state.complete for state in states])
    return {
        "questions": len(played) // _ROLLOUTS,
        "recall": _mean([case.recall(run.held) for case, run in played]),
        "one shot": _mean([case.recall(case.ranking(case.question)[: len(run.held)]) for case, run in played]),
        "passages": _mean([len(run.held) for _, run in played]),
        "answered": _mean([run.answered for _, run in played]),
        "ready": _mean(right),
        "always": max(complete, 1 - complete),
    }


def measure_shipped_planner(data: DataFolder, folds: Iterable[int]) -> dict[str, dict[str, float]]:
    """`measure_planner` of the shipped tables on all questions of the folds.

    Raises:
        ResourceError: The tables or a data file are missing or damaged.
    """
    return measure_planner(read_cases(data, folds), shipped_tables())


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
