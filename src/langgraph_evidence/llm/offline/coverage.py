"""Whether the evidence holds all that a question needs: what speaks for it, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.evidence import bare, met, residual, title_of
from langgraph_evidence.llm.offline.words import content_words

if TYPE_CHECKING:
    from langgraph_evidence.llm.offline.questions import ParsedQuestion

_HOP = re.compile(r"\b(?:of|by|that|who|whom|whose|which|where|when|'s|s')\b|'s\b", re.IGNORECASE)
_BEHIND_SIDES = re.compile(r"\b(?:director|directors|performer|composer|author|whose|founder|creator)\b", re.IGNORECASE)


def coverage(question: ParsedQuestion, evidence: tuple[str, ...], *, best: float) -> dict[str, float]:
    """The features of completeness.

    Args:
        question: The question.
        evidence: Its evidence, a passage a line.
        best: The score of the best next query: the more promising it is, the more is missing.
    """
    count = len(evidence)
    text = "\n".join(evidence)
    names = question.names or (question.text,)
    return {
        "one": 1.0,
        "three": float(count == 3),
        "four": float(count >= 4),
        "open": len(residual(question, evidence)) / max(len(content_words(question.text)), 1),
        "names_met": sum(met(name, evidence) for name in names) / len(names),
        "names_mentioned": sum(name in text for name in names) / len(names),
        "best": best,
        "length": len(content_words(question.text)) / 10,
        "hops": len(_HOP.findall(question.text)) / 4,
        "linked": _linked(evidence) / max(count - 1, 1),
        "last_linked": float(_linked(evidence) > _linked(evidence[:-1])),
        **_sides(question, evidence),
    }


def _sides(question: ParsedQuestion, evidence: tuple[str, ...]) -> dict[str, float]:
    if not question.sides:
        return {}
    found = sum(met(side, evidence) for side in question.sides)
    behind = float(bool(_BEHIND_SIDES.search(question.text)))
    return {
        "both_sides": float(found == len(question.sides)),
        "one_side": float(found == 1),
        "no_side": float(found == 0),
        "behind_sides": behind,
        "behind_sides_found": behind * min(len(evidence), 4) / 4,
    }


def _linked(evidence: tuple[str, ...]) -> int:
    """How many passages are named by another one."""
    linked = 0
    for index, line in enumerate(evidence):
        title = bare(title_of(line))
        others = [other for place, other in enumerate(evidence) if place != index]
        linked += any(title and title in other.removeprefix(title_of(other)) for other in others)
    return linked
