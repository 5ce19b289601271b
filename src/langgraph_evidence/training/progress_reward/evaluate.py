"""The progress reward's accuracy on pairs of next sentences, beside its baselines'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.progress_reward import open_step_scorer
from langgraph_evidence.training.base import with_intervals
from langgraph_evidence.training.progress_reward.data import make_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.models.progress_reward import AnswerStep, StepScorer
    from langgraph_evidence.training.base import DataFolder, Metrics
    from langgraph_evidence.training.progress_reward.data import Preference


def preferred(pairs: Sequence[Preference], scorer: StepScorer) -> NDArray[np.float64]:
    """Whether the better sentence of each pair scores higher, 0 or 1, a tie counting a half; (pairs,)."""
    scores = scorer.scores([step for pair in pairs for step in pair.steps]).reshape(-1, 2).astype(np.float64)
    right: NDArray[np.float64] = (np.sign(scores[:, 0] - scores[:, 1]) + 1) / 2
    return right


def pairwise_accuracy(pairs: Sequence[Preference], scorer: StepScorer) -> dict[str, float]:
    """The mean of `preferred`, by data set and over all (`score`)."""
    right = preferred(pairs, scorer)
    metrics = {"score": float(right.mean())}
    for source in sorted({pair.source for pair in pairs}):
        metrics[source] = float(right[[pair.source == source for pair in pairs]].mean())
    return metrics


def measure_progress_reward(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Metrics:
    """Pairwise accuracy: trained, the longer sentence, the one nearer to the question.

    Intervals are over resampled questions, since the pairs of one question are alike.
    """
    pairs = make_pairs(data, folds)
    scorers = {
        "trained": open_step_scorer(source, encoder=encoder),
        "length": _Length(),
        "similarity": _Similarity(encoder),
    }
    return {name: _accuracy(pairs, preferred(pairs, scorer)) for name, scorer in scorers.items()}


def _accuracy(pairs: Sequence[Preference], right: NDArray[np.float64]) -> dict[str, float | list[float]]:
    questions: dict[tuple[str, str], dict[str, float]] = {}
    for pair, value in zip(pairs, right, strict=True):
        row = questions.setdefault((pair.source, pair.question), {"right": 0.0, "pairs": 0.0})
        row["right"] += float(value)
        row["pairs"] += 1
    metrics = _share("score", list(questions.values()))
    for source in sorted({source for source, _ in questions}):
        metrics |= _share(source, [row for (of, _), row in questions.items() if of == source])
    return metrics


def _share(name: str, rows: Sequence[Mapping[str, float]]) -> dict[str, float | list[float]]:
    return with_intervals(rows, lambda means: {name: means["right"] / means["pairs"]}, of=[name])


class _Length:
    def scores(self, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
        return np.array([len(step[2]) for step in steps], dtype=np.float32)


@dataclass
class _Similarity:
    encoder: Encoder

    def scores(self, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
        asked = self.encoder.encode([step[0] for step in steps])
        products: NDArray[np.float32] = (asked * self.encoder.encode([step[2] for step in steps])).sum(1)
        return products
