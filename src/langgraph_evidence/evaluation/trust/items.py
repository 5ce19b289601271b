"""Answers that are made from true ones: changed ones, which are false, and reworded ones, which are as true."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from langgraph_evidence.evaluation.trust.facts import Fact
    from langgraph_evidence.types import Passage


class Item(NamedTuple):
    """An answer made from a true one.

    Args:
        fact: Id of the fact it was made from.
        source: The fact's data set.
        kind: What was changed, or how it was said anew.
        how: Where the new detail comes from, or by which rule.
        question: What it answers; empty for a statement.
        answer: As it is given to a verifier.
        asked: The fact's own question.
        truth: The fact's own answer.
        evidence: What is given with it.
    """

    fact: str
    source: str
    kind: str
    how: str
    question: str
    answer: str
    asked: str
    truth: str
    evidence: tuple[Passage, ...]


def made(fact: Fact, kind: str, how: str, answer: str, *, question: str | None = None) -> Item:
    """An item of a fact; without a question of its own it answers the fact's."""
    asked = fact.question if question is None else question
    return Item(fact.id, fact.source, kind, how, asked, answer, fact.question, fact.answer, fact.evidence)
