"""Several rankings as one, by reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from langgraph_evidence.retrieval.retriever import PassageRetriever, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# The constant of the paper, section 2, and how many passages of each ranking take part (ours: those further down add
# less than the difference between two neighbours at the top).
RRF = 60
DEPTH = 100


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], *, constant: int = RRF) -> dict[int, float]:
    """Every ranked position's sum of 1 / (constant + rank), ranks counted from 1."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            fused[position] = fused.get(position, 0.0) + 1 / (constant + rank)
    return fused


class HybridRetriever(PassageRetriever):
    """Fuses what other retrievers rank of the same passages.

    Args:
        passages: The passages, by position.
        k: How many documents a query gets, at most.
        parts: The retrievers, each over these very passages.
        constant: How little the first ranks stand out.
    """

    parts: list[PassageRetriever] = Field(min_length=1)
    constant: int = Field(default=RRF, ge=1)

    def rank(self, query: str, k: int) -> Ranking:
        """Ranks the best k passages of the fused rankings; equal ones in the corpus' order."""
        depth = min(max(k, DEPTH), len(self.passages))
        rankings = [part.rank(query, depth).positions.tolist() for part in self.parts]
        fused = sorted(
            reciprocal_rank_fusion(rankings, constant=self.constant).items(), key=lambda one: (-one[1], one[0])
        )
        positions, scores = zip(*fused[:k], strict=True) if fused else ((), ())
        return Ranking(np.array(positions, dtype=np.int64), np.array(scores, dtype=np.float32))
