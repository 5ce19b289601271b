"""A labelled pair: what every source of the entailment head's data gives."""

from __future__ import annotations

from dataclasses import dataclass

LABELS = ("entailment", "neutral", "contradiction", "not_entailment")


@dataclass(frozen=True)
class NliPair:
    """One labelled pair.

    Args:
        source: The data set.
        premise: The evidence: sentences, or quotes written `Title: sentence`.
        hypothesis: A statement, a question with an answer, or a question.
        label: One of `LABELS`; `not_entailment` is neutral or contradiction.
        derived: Whether it was made from another pair.
    """

    source: str
    premise: str
    hypothesis: str
    label: str
    derived: bool = False

    @property
    def entailed(self) -> bool:
        """Whether the premise entails the hypothesis."""
        return self.label == "entailment"
