"""The answer that the evidence gives, and how surely it covers the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.evidence import bridges, met, residual, sentences
from langgraph_evidence.llm.offline.words import stems

if TYPE_CHECKING:
    from langgraph_evidence.llm.offline.questions import Question


@dataclass(frozen=True)
class Found:
    """An answer, the sentence it was read from, and the probability that the evidence holds all it needs."""

    text: str
    quote: str
    score: float


def find_answer(question: Question, evidence: tuple[str, ...]) -> Found:
    """Finds the answer by overlap of words."""
    if not evidence:
        return Found("", "", 0.0)
    asked = stems(question.text)
    score = coverage(question, evidence)
    quote = max((s for line in evidence for s in sentences(line)), key=lambda s: len(stems(s) & asked))
    if question.yes_no:
        return Found("yes", quote, score)
    if question.sides:
        return Found(question.sides[0], quote, score)
    near = sorted(bridges(question, evidence), key=lambda bridge: -bridge.features["near"])
    return Found(near[0].name if near else "", quote, score)


def coverage(question: Question, evidence: tuple[str, ...]) -> float:
    """How much of the question the evidence covers, in [0, 1]."""
    if len(evidence) < 2:
        return 0.0
    if question.sides:
        return 0.9 if all(met(side, evidence) for side in question.sides) else 0.1
    asked = stems(question.text)
    return 1 - len({*residual(question, evidence)}) / max(len(asked), 1)
