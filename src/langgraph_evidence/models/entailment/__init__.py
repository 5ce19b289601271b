"""Whether a premise entails a hypothesis: cited passages and a sentence of the answer.

`Entailment` is the interface; behind it stand the shipped head, an NLI classifier or TRUE's T5, or a scoring server.
"""

from langgraph_evidence.models.entailment.features import (
    content_stems,
    coverage,
    is_question,
    pack_premise,
    split_sentences,
    word_overlap,
)
from langgraph_evidence.models.entailment.head import LABELS3, MAX_TOKENS, OUTPUTS, HeadScorer, label_logits
from langgraph_evidence.models.entailment.model import Entailment

__all__ = [
    "LABELS3", "MAX_TOKENS", "OUTPUTS", "Entailment", "HeadScorer", "content_stems", "coverage", "is_question",
    "label_logits", "pack_premise", "split_sentences", "word_overlap",
]  # fmt: skip
