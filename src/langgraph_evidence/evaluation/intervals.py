"""Means with bootstrap intervals: resampled questions, a fixed seed, the same figures on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [data[generator.integers(0, data.size, (_BLOCK, data.size))].mean(axis=1) for _ in range(RESAMPLES // _BLOCK)]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(data.mean()), float(low), float(high), int(data.size))


def paired_difference(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> Interval:
    """The mean difference over the same questions, ours less theirs."""
    return bootstrap([one - other for one, other in zip(ours, theirs, strict=True)], seed=seed)
