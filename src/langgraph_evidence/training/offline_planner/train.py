"""Fits the offline planner's two tables: which query to ask next, and when the evidence is enough."""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.offline.weights import NAME, Tables
from langgraph_evidence.models.base import write_aside
from langgraph_evidence.training.base import TRAIN_FOLDS, TUNE_FOLD, DataFolder, Progress, TrainResult
from langgraph_evidence.training.offline_planner.data import Case, Choice, make_choices, read_cases
from langgraph_evidence.training.offline_planner.evaluate import measure_planner
from langgraph_evidence.training.offline_planner.rollouts import Readiness, make_readiness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LICENCES = "HotpotQA CC BY-SA 4.0; 2WikiMultihopQA Apache-2.0 with Wikipedia text CC BY-SA; MuSiQue CC BY 4.0"
_FLOOR = 1e-4  # of a choice's chance of being right, so that a hopeless one does not rule the loss
_DIGITS = 2


@dataclass(frozen=True, kw_only=True)
class PlannerOptions:
    """How to fit.

    Args:
        questions: Of each data set at most, so that none rules; 0 takes all.
        steps: Adam's steps for the query table.
        learning_rate: Adam's rate.
        decay: Weight of the squared norm in both losses.
        seed: Of the questions' order, the states and the rollouts.
    """

    questions: int = 500
    steps: int = 150
    learning_rate: float = 0.05
    decay: float = 1e-3
    seed: int = 0


OPTIONS = PlannerOptions()


def fit_queries(
    choices: Sequence[Choice], options: PlannerOptions, report: Callable[[int, int, float], None] | None = None
) -> dict[str, float]:
    """Listwise logistic regression: -log of the chance that the softmax over the candidates falls on a good one.

    Choices of which all or none are good teach nothing and are left out. By hand, since scikit-learn's regressions see
    rows one by one and know no choice among several.

    Raises:
        InvalidInput: No choice is left.
    """
    kept = [choice for choice in choices if any(choice.good) and not all(choice.good)]
    if not kept:
        raise InvalidInput("There are no choices to learn from; check the data folder and the folds.")
    names, rows = _matrix([row for choice in kept for row in choice.features])
    features = torch.from_numpy(rows).float()
    good = torch.tensor([float(value) for choice in kept for value in choice.good])
    owner = torch.tensor([index for index, choice in enumerate(kept) for _ in choice.good])
    weights = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=options.learning_rate)
    for step in range(options.steps):
        scores = features @ weights
        # Any constant of a choice leaves its softmax as it is; its greatest score keeps exp within range.
        top = torch.full((len(kept),), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
        mass = (scores - top[owner]).exp()
        zeros = torch.zeros(len(kept))
        right = zeros.index_add(0, owner, mass * good) / zeros.index_add(0, owner, mass)
        loss = -(right + _FLOOR).log().mean() + options.decay * weights.square().sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimizer.step()
        if report is not None:
            report(step + 1, options.steps, float(loss.detach()))
    return _table(names, weights.tolist())


def fit_ready(rows: Sequence[Readiness], options: PlannerOptions) -> dict[str, float]:
    """Logistic regression of completeness on the features of `coverage`.

    Raises:
        InvalidInput: There are no rows.
    """
    if not rows:
        raise InvalidInput(
            "No rollout found two passages: nothing tells when to stop. Check the data folder and folds."
        )
    names, features = _matrix([row.features for row in rows])
    complete = np.array([row.complete for row in rows])
    # scikit-learn's C weighs the sum of the losses against half the squared norm, `decay` the norm against their mean.
    fit = LogisticRegression(C=1 / (2 * len(rows) * options.decay), fit_intercept=False, tol=1e-8, max_iter=1000)
    # It refuses rows of one class, which short rollouts can give: each stands as both, one of the two without weight.
    both = np.repeat([True, False], len(rows))
    fit.fit(np.tile(features, (2, 1)), both, np.concatenate([complete, ~complete]).astype(float))
    return _table(names, fit.coef_[0].tolist())


def _matrix(rows: Sequence[dict[str, float]]) -> tuple[list[str], NDArray[np.float64]]:
    names = sorted({name for row in rows for name in row})
    columns = {name: column for column, name in enumerate(names)}
    values = np.zeros((len(rows), len(names)), dtype=np.float64)
    for index, row in enumerate(rows):
        for name, value in row.items():
            values[index, columns[name]] = value
    return names, values


def _table(names: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    return {name: round(value, _DIGITS) for name, value in zip(names, weights, strict=True)}


def fit_tables(
    cases: Sequence[Case],
    options: PlannerOptions = OPTIONS,
    *,
    report: Callable[[int, int, float], None] | None = None,
) -> Tables:
    """Both tables; the second is fitted on rollouts by the first.

    Raises:
        InvalidInput: The cases give nothing to learn from.
    """
    query = fit_queries(make_choices(cases, seed=options.seed), options, report)
    return Tables(query, fit_ready(make_readiness(cases, Tables(query, {}), seed=options.seed), options))


def train_offline_planner(
    data: DataFolder,
    out: Path,
    *,
    options: PlannerOptions = OPTIONS,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Fits on folds 0-6, measures on fold 7, and writes the tables with their card to `out`.

    Raises:
        InvalidInput: The folds give nothing to learn from.
        ResourceError: A data file is missing or damaged.
    """
    cases = read_cases(data, TRAIN_FOLDS, seed=options.seed, limit=options.questions)
    tables = fit_tables(cases, options, report=report)
    rows = measure_planner(read_cases(data, [TUNE_FOLD]), tables, seed=options.seed)
    figures = {
        "score": rows["all"]["recall"],
        **{f"{a} {b}": value for a, row in rows.items() for b, value in row.items()},
    }
    details: dict[str, Any] = {
        "data": data.hashes,
        "licences": LICENCES,
        "options": asdict(options),
        "questions": len(cases),
        "figures": {name: round(value, 4) for name, value in figures.items()},
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "scikit-learn", "numpy", "bm25s")},
    }
    out.mkdir(parents=True, exist_ok=True)
    card = {"head": NAME, "details": details, "tables": {"query": tables.query, "ready": tables.ready}}
    write_aside(out / f"{NAME}.json", (json.dumps(card, indent=2, sort_keys=True) + "\n").encode())
    return TrainResult(figures, Progress(step=options.steps))
