"""The figures of the query scorer, the sentence ranker and the progress reward beside their baselines, on any folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.progress_reward.model import open_step_scorer
from langgraph_evidence.models.query_scorer.head import ListwiseQueryScorer
from langgraph_evidence.models.query_scorer.scorer import SimilarityScorer
from langgraph_evidence.models.sentence_ranker.model import SentenceRanker
from langgraph_evidence.training.base.intervals import with_intervals
from langgraph_evidence.training.progress_reward.train import make_pairs, preferred
from langgraph_evidence.training.query_scorer.data import read_pools
from langgraph_evidence.training.query_scorer.rollouts import read_course
from langgraph_evidence.training.query_scorer.train import pool_figures, pool_rows
from langgraph_evidence.training.sentence_ranker.train import measure_lists, read_lists, shorten, word_overlap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.base.encoder import Encoder
    from langgraph_evidence.models.progress_reward.model import Step
    from langgraph_evidence.models.query_scorer.scorer import QueryScorer
    from langgraph_evidence.training.base.data import DataFolder
    from langgraph_evidence.training.progress_reward.train import Preference

Figures = dict[str, dict[str, float | list[float]]]
"""Figures, some with 95% intervals, by the row they stand in: the head and its baselines, or a data set."""

_OTHERS = 12
_QUERY_INTERVALS = ("f1", "chosen", "closed")


def measure_query_scorer(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Figures:
    """Document F1 at 0.5 and the reciprocal rank of the chosen query: trained and by similarity, each data set.

    Those "in the graph" are of the queries that the offline model asks in FuRePA's course, without what is held then;
    the whole question is seldom one of them. Intervals are over resampled questions, there over resampled iterations.
    """
    folds = frozenset(folds)
    pools, course = read_pools(data, folds), read_course(data, folds)
    scorers: dict[str, QueryScorer] = {
        "trained": ListwiseQueryScorer.load(source, encoder=encoder),
        "similarity": SimilarityScorer(encoder),
    }
    figures: Figures = {}
    for scorer_name, scorer in scorers.items():
        rows = pool_rows(scorer, pools)
        figures[scorer_name] = with_intervals(rows, pool_figures, of=_QUERY_INTERVALS)
        for name in sorted({pool.source for pool in pools}):
            chosen = [row for row, pool in zip(rows, pools, strict=True) if pool.source == name]
            figures[f"{scorer_name}, {name}"] = with_intervals(chosen, pool_figures, of=_QUERY_INTERVALS)
        in_graph = with_intervals(pool_rows(scorer, course), pool_figures, of=_QUERY_INTERVALS)
        if in_graph:
            figures[f"{scorer_name}, in the graph"] = {k: v for k, v in in_graph.items() if k != "question"}
    return figures


def measure_sentence_ranker(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Figures:
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


def measure_progress_reward(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Figures:
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
    figures = _share("score", list(questions.values()))
    for source in sorted({source for source, _ in questions}):
        figures |= _share(source, [row for (of, _), row in questions.items() if of == source])
    return figures


def _share(name: str, rows: Sequence[Mapping[str, float]]) -> dict[str, float | list[float]]:
    return with_intervals(rows, lambda means: {name: means["right"] / means["pairs"]}, of=[name])


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
