"""Which query would find its passage first: FuRePA's query scorer (section 3.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.models.base import Encoder


class QueryScorer(Protocol):
    """Tells for each query how relevant each passage is to it (FuRePA eq. 7)."""

    trained: bool
    """Whether the scores come from a model trained for this; an untrained one says so in the run's events."""

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """Scores s_j in [0, 1]: one row a query, one column a passage."""
        ...


class SimilarityScorer:
    """Cosine similarity by the shared encoder, untrained: the baseline of the trained scorers."""

    trained = False

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """Cosine similarities cut at 0, one row a query."""
        if not queries or not passages:
            return [[] for _ in queries]
        similarities = self._encoder.encode(list(queries)) @ self._encoder.encode(list(passages)).T
        return [[min(max(float(value), 0.0), 1.0) for value in row] for row in similarities]
