"""FuRePA's query scorer (section 3.2.3): which query would find its passage first.

The shipped head is listwise; a full cross encoder, as in the paper, takes its place by folder, hub id or URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base import default_encoder, once

if TYPE_CHECKING:
    from langgraph_evidence.models.query_scorer.features import FEATURES, pool_features
    from langgraph_evidence.models.query_scorer.head import (
        HEAD,
        LABELS,
        CrossEncoderScorer,
        ListwiseQueryScorer,
        QueryHead,
        open_query_scorer,
    )
    from langgraph_evidence.models.query_scorer.scorer import QueryScorer, SimilarityScorer

__all__ = [
    "FEATURES",
    "HEAD",
    "LABELS",
    "CrossEncoderScorer",
    "ListwiseQueryScorer",
    "QueryHead",
    "QueryScorer",
    "SimilarityScorer",
    "default_query_scorer",
    "open_query_scorer",
    "pool_features",
]

__getattr__ = lazily(
    __name__,
    {
        "features": "FEATURES pool_features",
        "head": "CrossEncoderScorer HEAD LABELS ListwiseQueryScorer QueryHead open_query_scorer",
        "scorer": "QueryScorer SimilarityScorer",
    },
)


@once
def default_query_scorer() -> QueryScorer:
    """The scorer of a graph that is given none: the shipped listwise head over the shared encoder.

    Raises:
        ResourceError: The shipped weights or the base are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.query_scorer.head import ListwiseQueryScorer

    return ListwiseQueryScorer.load(encoder=default_encoder())
