"""The sentence ranker's metrics beside its baselines'."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.sentence_ranker import SentenceRanker
from langgraph_evidence.training.base import with_intervals
from langgraph_evidence.training.sentence_ranker.data import RankingTask, read_lists, shorten, word_overlap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import DataFolder, Means, Metrics

_OTHERS = 12


def list_rows(
    lists: Sequence[RankingTask], score: Callable[[str, list[str]], Sequence[float]]
) -> list[dict[str, float]]:
    """Average precision and recall at the number of good sentences, of each list."""
    rows = []
    for _, query, sentences, good in lists:
        scores = score(query, sentences)
        order = sorted(range(len(sentences)), key=lambda index: -scores[index])
        hits = np.array([index in set(good) for index in order])
        precision = (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean()
        rows.append({"precision": float(precision), "recall": float(hits[: len(good)].sum() / len(good))})
    return rows


def measure_lists(
    lists: Sequence[RankingTask], score: Callable[[str, list[str]], Sequence[float]]
) -> dict[str, float | list[float]]:
    """Mean average precision over all lists (`score`) and of each data set, with intervals; recall of each data set."""
    rows = list_rows(lists, score)
    metrics = with_intervals(rows, lambda means: {"score": means["precision"]}, of=["score"])
    for source in sorted({item[0] for item in lists}):
        own = [row for row, item in zip(rows, lists, strict=True) if item[0] == source]
        metrics |= with_intervals(own, partial(_named, source), of=[source])
    return metrics


def _named(source: str, means: Means) -> Means:
    return {source: means["precision"], f"{source} recall": means["recall"]}


def measure_sentence_ranker(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Metrics:
    """Mean average precision among the good sentences and the dozen others most alike to the query in words.

    Intervals are over resampled lists.
    """
    lists = [shorten(item, _OTHERS) for item in read_lists(data, folds)]
    ranker = SentenceRanker.load(source, encoder=encoder)

    def cosine(query: str, sentences: list[str]) -> list[float]:
        return [float(value) for value in encoder.encode(sentences) @ encoder.encode([query])[0]]

    def overlap(query: str, sentences: list[str]) -> list[float]:
        return [word_overlap(query, sentence) for sentence in sentences]

    scores: dict[str, Callable[[str, list[str]], Sequence[float]]]
    scores = {"trained": ranker.score, "cosine": cosine, "overlap": overlap}
    return {name: measure_lists(lists, score) for name, score in scores.items()}
