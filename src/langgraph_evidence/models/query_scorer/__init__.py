"""FuRePA's query scorer (section 3.2.3): which query would find its passage first.

The shipped head is listwise; a full cross encoder, as in the paper, takes its place by folder, hub id or URL.
"""

from langgraph_evidence.models.query_scorer.features import FEATURES, pool_features
from langgraph_evidence.models.query_scorer.head import (
    HEAD,
    LABELS,
    CrossEncoderScorer,
    ListwiseQueryScorer,
    QueryHead,
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
    "pool_features",
]
