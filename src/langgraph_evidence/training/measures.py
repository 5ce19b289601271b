"""The figures of the query scorer, the sentence ranker and the progress reward beside their baselines, on any folds."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.progress_reward import open_step_scorer
from langgraph_evidence.models.query_head import ListwiseQueryScorer
from langgraph_evidence.models.query_scorer import SimilarityScorer
from langgraph_evidence.models.sentence_ranker import SentenceRanker
from langgraph_evidence.training.progress_reward import make_pairs, pairwise_accuracy
from langgraph_evidence.training.query_data import read_pools
from langgraph_evidence.training.query_scorer import measure_pools
from langgraph_evidence.training.sentence_ranker import measure_lists, read_lists, shorten, word_overlap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.encoder import Encoder
    from langgraph_evidence.models.progress_reward import Step
    from langgraph_evidence.training.data import DataFolder

Figures = dict[str, dict[str, float]]
"""Figures by the row they stand in: the head and its baselines, or a data set."""

_OTHERS = 12


def measure_query_scorer(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Figures:
    """Document F1 at 0.5 and the reciprocal rank of the chosen query: trained and by similarity, each data set."""
    pools = read_pools(data, folds)
    trained = ListwiseQueryScorer.load(source, encoder=encoder)
    rows = {"trained": measure_pools(trained, pools), "similarity": measure_pools(SimilarityScorer(encoder), pools)}
    for name in sorted({pool.source for pool in pools}):
        rows[f"trained, {name}"] = measure_pools(trained, [pool for pool in pools if pool.source == name])
    return rows


def measure_sentence_ranker(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None, limit: int = 0
) -> Figures:
    """Mean average precision among the good sentences and the dozen others most alike to the query in words."""
    lists = [shorten(item, _OTHERS) for item in read_lists(data, folds)]
    random.Random(0).shuffle(lists)
    ranker = SentenceRanker.load(source, encoder=encoder)

    def cosine(query: str, sentences: list[str]) -> list[float]:
        return [float(value) for value in encoder.encode(sentences) @ encoder.encode([query])[0]]

    def overlap(query: str, sentences: list[str]) -> list[float]:
        return [word_overlap(query, sentence) for sentence in sentences]

    scores: dict[str, Callable[[str, list[str]], Sequence[float]]]
    scores = {"trained": ranker.score, "cosine": cosine, "overlap": overlap}
    return {name: measure_lists(lists[: limit or None], score) for name, score in scores.items()}


def measure_progress_reward(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Figures:
    """Pairwise accuracy: trained, the longer sentence, the one nearer to the question."""
    pairs = make_pairs(data, folds)
    scorers = {
        "trained": open_step_scorer(source, encoder=encoder),
        "length": _Length(),
        "similarity": _Similarity(encoder),
    }
    return {name: pairwise_accuracy(pairs, scorer) for name, scorer in scorers.items()}


class _Length:
    def scores(self, steps: Sequence[Step]) -> NDArray[np.float32]:
        return np.array([len(step[2]) for step in steps], dtype=np.float32)


@dataclass
class _Similarity:
    encoder: Encoder

    def scores(self, steps: Sequence[Step]) -> NDArray[np.float32]:
        asked = self.encoder.encode([step[0] for step in steps])
        products: NDArray[np.float32] = (asked * self.encoder.encode([step[2] for step in steps])).sum(1)
        return products
