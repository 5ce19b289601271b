"""The query scorer's figures beside its baseline's: over candidate queries, and over those asked in the graph."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.methods.furepa.assessor import rank_queries
from langgraph_evidence.models.query_scorer import ListwiseQueryScorer, SimilarityScorer
from langgraph_evidence.training.base import with_intervals
from langgraph_evidence.training.query_scorer.data import read_pools
from langgraph_evidence.training.query_scorer.rollouts import read_rollouts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.models.query_scorer import QueryScorer
    from langgraph_evidence.training.base import DataFolder, Metrics
    from langgraph_evidence.training.query_scorer.data import Pool

_QUERY_INTERVALS = ("f1", "chosen", "closed")


def measure_pools(scorer: QueryScorer, pools: Sequence[Pool], *, seed: int = 0) -> dict[str, float]:
    """Document F1 at 0.5 and the mean reciprocal rank of the gold passage of the chosen query, with its rivals.

    See `pool_figures`.

    Raises:
        InvalidInput: There are no pools.
    """
    rows = pool_rows(scorer, pools, seed=seed)
    if not rows:
        raise InvalidInput("No question of these folds has gold passages; give data and folds that have some.")
    means = {name: np.array([np.mean([row[name] for row in rows])]) for name in rows[0]}
    return {name: float(value[0]) for name, value in pool_figures(means).items()}


def pool_rows(scorer: QueryScorer, pools: Sequence[Pool], *, seed: int = 0) -> list[dict[str, float]]:
    """What `pool_figures` is made of, for each pool."""
    rng, rows = random.Random(seed), []
    for pool in pools:
        order = rng.sample(range(len(pool.queries)), len(pool.queries))
        ranks = [1 / pool.gold_rank(index) for index in order]
        scores = scorer.score([pool.queries[index] for index in order], pool.passages)
        row = {
            "first": ranks[0],
            "random": float(np.mean(ranks)),
            "question": 1 / pool.gold_rank(0) if pool.queries[0] == pool.question else 0.0,
            "oracle": max(ranks),
            "chosen": ranks[rank_queries(scores)[0]],
            "f1": sum(_f1(found, pool.labels(index)) for found, index in zip(scores, order, strict=True)),
            "queries": float(len(order)),
        }
        rows.append(row)
    return rows


def pool_figures(means: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """The figures of the scorer out of the means of `pool_rows` over pools, each (n,).

    The rivals of the `chosen` query: a round's `first` one (the rounds are shuffled, as samples have no order), the
    mean of all of them (`random`), the `question` itself, and the `oracle`. `closed` is the share of the way from
    `first` to `oracle`. `f1` is the mean over queries.
    """
    figures = {name: means[name] for name in ("first", "random", "question", "oracle", "chosen")}
    gap = means["oracle"] - means["first"]
    closed = np.divide(means["chosen"] - means["first"], gap, out=np.zeros_like(gap), where=gap != 0)
    return figures | {"f1": means["f1"] / means["queries"], "closed": closed}


def _f1(scores: Sequence[float], labels: Sequence[float]) -> float:
    found, truth = [score > 0.5 for score in scores], [label > 0.5 for label in labels]
    hits = sum(a and b for a, b in zip(found, truth, strict=True))
    return 2 * hits / max(1, sum(found) + sum(truth))


def measure_query_scorer(
    encoder: Encoder, data: DataFolder, folds: Iterable[int], *, source: Path | None = None
) -> Metrics:
    """Document F1 at 0.5 and the reciprocal rank of the chosen query: trained and by similarity, each data set.

    Those "in the graph" are of the queries that the offline model asks in rollouts, without what is held then; the
    whole question is seldom one of them. Intervals are over resampled questions, there over resampled iterations.
    """
    folds = frozenset(folds)
    pools, rollouts = read_pools(data, folds), read_rollouts(data, folds)
    scorers: dict[str, QueryScorer] = {
        "trained": ListwiseQueryScorer.load(source, encoder=encoder),
        "similarity": SimilarityScorer(encoder),
    }
    figures: Metrics = {}
    for scorer_name, scorer in scorers.items():
        rows = pool_rows(scorer, pools)
        figures[scorer_name] = with_intervals(rows, pool_figures, of=_QUERY_INTERVALS)
        for name in sorted({pool.source for pool in pools}):
            chosen = [row for row, pool in zip(rows, pools, strict=True) if pool.source == name]
            figures[f"{scorer_name}, {name}"] = with_intervals(chosen, pool_figures, of=_QUERY_INTERVALS)
        in_graph = with_intervals(pool_rows(scorer, rollouts), pool_figures, of=_QUERY_INTERVALS)
        if in_graph:
            figures[f"{scorer_name}, in the graph"] = {k: v for k, v in in_graph.items() if k != "question"}
    return figures
