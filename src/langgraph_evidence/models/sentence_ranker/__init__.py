"""Which sentences bear on a question or a claim; a full-size cross encoder or its server can take the head's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base import default_encoder, once

if TYPE_CHECKING:
    from langgraph_evidence.models.sentence_ranker.model import HEAD, LABELS, RankerModel, SentenceRanker

__all__ = [
    "HEAD",
    "LABELS",
    "RankerModel",
    "SentenceRanker",
    "default_sentence_ranker",
]

__getattr__ = lazily(
    __name__,
    {
        "model": "HEAD LABELS RankerModel SentenceRanker",
    },
)


@once
def default_sentence_ranker() -> SentenceRanker:
    """The process's shared ranker: the shipped adapter over the shared encoder.

    Raises:
        ResourceError: The shipped weights or the base are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.sentence_ranker.model import SentenceRanker

    return SentenceRanker.load(encoder=default_encoder())
