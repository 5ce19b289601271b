"""Whether an answer may be given: the evidence supports it, or the run says that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from langgraph_evidence.citations.checked import Checked
from langgraph_evidence.types import Citation, Conflict, SentenceSupport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.types import Passage


class Guess(TypedDict):
    """An answer that was not trusted: what it said, why it was not trusted, and what was found for it.

    The spans of its citations, sentences and conflicts index `answer` of this guess.
    """

    answer: str
    why: str
    support: float
    citations: list[Citation]
    sentences: list[SentenceSupport]
    conflicts: list[Conflict]


def doubt_of(checked: Checked, answer: str, evidence: Sequence[Passage], *, least: float) -> str:
    """Why an answer is not to be trusted, or nothing.

    Args:
        checked: The answer against its evidence.
        answer: The answer.
        evidence: What the run holds.
        least: The support from which an answer is trusted; shared words are no support to be measured by it.
    """
    if not evidence:
        return "The run holds no evidence."
    if checked.failed:
        return f"It could not be checked: {checked.failed}"
    if checked.cited_by == "lexical":
        return "" if checked.citations else "No sentence of the evidence shares words with it."
    if checked.support >= least:
        return ""
    weakest = min(checked.sentences, key=lambda sentence: sentence["support"], default=None)
    said = answer[weakest["start"] : weakest["end"]] if weakest else answer
    return f"The evidence supports {said!r} by {checked.support:.2f}; min_support is {least:.2f}."


def guess_of(checked: Checked, answer: str, why: str) -> Guess:
    """An answer as a guess."""
    return Guess(
        answer=answer,
        why=why,
        support=checked.support,
        citations=checked.citations,
        sentences=checked.sentences,
        conflicts=checked.conflicts,
    )


def unchecked(reason: str) -> Checked:
    """What is known of an answer that could not be checked: nothing."""
    return Checked([], [], 0.0, [], "verified", reason)
