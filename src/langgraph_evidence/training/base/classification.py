"""Metrics of a yes-or-no decision: balanced accuracy, AUROC, their bootstrap intervals, and the best threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Measure = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]

_RESAMPLES = 500
_LEVELS = (2.5, 97.5)
_CANDIDATES = 99


def balanced_accuracy(says: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """The mean of the shares of yeses and noes that are got right; 0.5 for a constant answer.

    Raises:
        InvalidInput: The truth is all yes or all no.
    """
    _need_both(truth)
    return float((says[truth].mean() + (~says[~truth]).mean()) / 2)


def auroc(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The chance that a yes scores above a no, ties counting half (Mann-Whitney).

    Raises:
        InvalidInput: The truth is all yes or all no.
    """
    _need_both(truth)
    return float(roc_auc_score(truth, scores))


def bootstrap(measure: Measure, scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """The 95% interval of a metric over resampled pairs, yeses and noes apart so that both are always there."""
    _need_both(truth)
    rng = np.random.default_rng(0)
    yes, no = np.flatnonzero(truth), np.flatnonzero(~truth)
    values = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([rng.choice(yes, len(yes)), rng.choice(no, len(no))])
        values.append(measure(scores[chosen], truth[chosen]))
    low, high = np.percentile(values, _LEVELS)
    return float(low), float(high)


def best_threshold(
    scores: NDArray[np.float64], truth: NDArray[np.bool_], sources: Sequence[str] | NDArray[np.str_]
) -> float:
    """The threshold with the best mean balanced accuracy over the sources, halfway between the scores around it.

    Sources whose truth is all yes or all no are left out.

    Raises:
        InvalidInput: No source has both.
    """
    names = np.asarray(sources)
    groups = [names == name for name in np.unique(names) if len(np.unique(truth[names == name])) > 1]
    if not groups:
        raise InvalidInput("A threshold needs a source that has both entailed and other pairs.")
    used = scores[np.any(groups, axis=0)]
    candidates = np.unique(np.quantile(used, np.linspace(0, 1, _CANDIDATES + 2)))
    between = (candidates[1:] + candidates[:-1]) / 2 if len(candidates) > 1 else candidates
    means = [np.mean([balanced_accuracy(scores[group] >= cut, truth[group]) for group in groups]) for cut in between]
    return float(between[int(np.argmax(means))])


def _need_both(truth: NDArray[np.bool_]) -> None:
    if not 0 < truth.sum() < len(truth):
        raise InvalidInput("The metric needs pairs that are entailed and pairs that are not.")
