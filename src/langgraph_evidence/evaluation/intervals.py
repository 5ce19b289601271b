"""Means with bootstrap intervals: resampled questions, a fixed seed, the same metrics on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 1000
_BLOCK = 100


class Interval(NamedTuple):
    """A mean over n questions with its 95% bootstrap interval (percentiles)."""

    mean: float
    low: float
    high: float
    n: int


def bootstrap(values: Sequence[float], *, seed: int = 0) -> Interval:
    """The mean of the values and the interval of the means of resampled values; of no value, not-a-number."""
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    low, high = edges(resampled_means(data[:, None], seed=seed))
    return Interval(float(data.mean()), low, high, int(data.size))


def resampled_means(columns: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.float64]:
    """The columns' means over resampled rows, (resamples, columns), of values (rows, columns).

    A row is drawn as a whole, so that what is computed from several means keeps their correlation.
    """
    rng, rows = np.random.default_rng(seed), len(columns)
    return np.concatenate(
        [columns[rng.integers(0, rows, (_BLOCK, rows))].mean(axis=1) for _ in range(RESAMPLES // _BLOCK)]
    )


def edges(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95% interval of resampled metrics, by percentiles."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def paired_difference(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> Interval:
    """The mean difference over the same questions, ours less theirs."""
    return bootstrap([one - other for one, other in zip(ours, theirs, strict=True)], seed=seed)
