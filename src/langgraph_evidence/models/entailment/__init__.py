"""Whether a premise entails a hypothesis: cited passages and a sentence of the answer.

`Entailment` is the interface; behind it stand the shipped head, an NLI classifier or TRUE's T5, or a scoring server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base import default_encoder, once

if TYPE_CHECKING:
    from langgraph_evidence.models.entailment.features import (
        content_stems,
        coverage,
        is_question,
        pack_premise,
        split_sentences,
        word_overlap,
    )
    from langgraph_evidence.models.entailment.head import (
        LABELS3,
        MAX_TOKENS,
        OUTPUTS,
        EntailmentHead,
        HeadScorer,
        all_features,
        build_head,
    )
    from langgraph_evidence.models.entailment.model import Entailment

__all__ = [
    "LABELS3",
    "MAX_TOKENS",
    "OUTPUTS",
    "Entailment",
    "EntailmentHead",
    "HeadScorer",
    "all_features",
    "build_head",
    "content_stems",
    "coverage",
    "default_entailment",
    "is_question",
    "pack_premise",
    "split_sentences",
    "word_overlap",
]

__getattr__ = lazily(
    __name__,
    {
        "features": "content_stems coverage is_question pack_premise split_sentences word_overlap",
        "head": "EntailmentHead HeadScorer LABELS3 MAX_TOKENS OUTPUTS all_features build_head",
        "model": "Entailment",
    },
)


@once
def default_entailment() -> Entailment:
    """The process's shared entailment model: the shipped head over the shared encoder.

    Raises:
        ResourceError: The shipped weights or the base are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.entailment.model import Entailment

    return Entailment.load(encoder=default_encoder())
