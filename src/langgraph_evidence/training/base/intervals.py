"""Metrics that are made of means over questions, with bootstrap intervals over resampled questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from langgraph_evidence.evaluation.intervals import edges, resampled_means

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Means = Mapping[str, NDArray[np.float64]]
Metrics = dict[str, dict[str, float | list[float]]]
"""Metrics, some with 95% intervals, by the row they stand in: the head and its baselines, or a data set."""


def with_intervals(
    rows: Sequence[Mapping[str, float]], metrics: Callable[[Means], Means], *, of: Sequence[str]
) -> dict[str, float | list[float]]:
    """Metrics of means; those named in `of` have their 95% interval beside them as `<name>_interval`.

    Args:
        rows: The values of each question, all with the same names; without any there are no metrics.
        metrics: From the means of each name, (n,), to metrics, (n,).
        of: The metrics that get an interval.
    """
    if not rows:
        return {}
    names = list(rows[0])
    columns = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
    found = metrics(dict(zip(names, columns.mean(axis=0, keepdims=True).T, strict=True)))
    spread = metrics(dict(zip(names, resampled_means(columns).T, strict=True)))
    made: dict[str, float | list[float]] = {}
    for name, value in found.items():
        made[name] = float(value[0])
        if name in of:
            made[f"{name}_interval"] = [*edges(spread[name])]
    return made
