"""From a model's raw outputs to probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities along the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


def sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The logistic function of each value."""
    return 1 / (1 + np.exp(-logits.astype(np.float64)))
