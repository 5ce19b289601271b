"""From scored windows to readings: the answers a question can have, typed, best first. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from langgraph_evidence.models.reader.answer_types import choices, is_polar, narrowed, trimmed
from langgraph_evidence.models.reader.spans import answerable, best_spans, yes_share
from langgraph_evidence.text import holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.models.reader.comparison import WorkedOut
    from langgraph_evidence.models.reader.spans import Span, WindowScores

_RANKED = 100
# How sure a reading is when a comparison was worked out, and at most when it applied but could not be. Both are
# estimated, not counted: both facts found are nearly always right; one not found mostly means that evidence is missing.
_RULE_HELD = 0.95
_RULE_FAILED = 0.15
# An answer that only repeats words of the question is rarely one; the factor hardly matters between 0.5 and 0.05.
_REPEATED = 0.2


@dataclass(frozen=True)
class Reading:
    """What the evidence says.

    Args:
        kind: A span of a passage, yes, no, or none: the evidence does not answer.
        text: The answer; empty for none.
        passage: The span's passage; -1 for other kinds, and for a name that was worked out and stands in none.
        start: Its first character there.
        end: The character after its last.
        score: How likely this very answer is right, in [0, 1]; for none, that there is none.
        answerable: How likely the evidence answers the question at all, in [0, 1].
    """

    kind: Literal["span", "yes", "no", "none"]
    text: str
    passage: int
    start: int
    end: int
    score: float
    answerable: float


def readings(question: str, passages: Sequence[str], scored: Sequence[WindowScores], count: int) -> list[Reading]:
    """The best answers that scored windows give, best first.

    A question that wants yes or no gets these two; one that offers two names gets those the passages hold, before
    any other span.
    """
    sure = answerable(scored)
    if is_polar(question):
        yes = yes_share(scored)
        both = [
            Reading("yes", "yes", -1, 0, 0, sure * yes, sure),
            Reading("no", "no", -1, 0, 0, sure * (1 - yes), sure),
        ]
        return sorted(both, key=lambda reading: -reading.score)[:count]
    offered = choices(question)
    spans = best_spans(scored, passages, _RANKED)
    repeated = 1.0 if offered else _REPEATED
    each = (_weighed(question, _reading(question, span, passages, sure), repeated) for span in spans)
    found = sorted((reading for reading in each if reading.text), key=lambda reading: -reading.score)
    if offered:
        chosen = [reading for reading in found if _names(reading.text, offered)]
        found = chosen + [reading for reading in found if reading not in chosen]
    return _apart(found)[:count]


def _apart(found: Sequence[Reading]) -> list[Reading]:
    """Leaves out what is the same as something better, or overlaps it: the same answer, longer or shorter."""
    kept: list[Reading] = []
    for reading in found:
        if not any(_same(reading, other) for other in kept):
            kept.append(reading)
    return kept


def _same(one: Reading, other: Reading) -> bool:
    overlaps = other.passage == one.passage and other.start < one.end and one.start < other.end
    return overlaps or one.text.lower() == other.text.lower()


def _reading(question: str, span: Span, passages: Sequence[str], sure: float) -> Reading:
    text = passages[span.passage]
    start, end = narrowed(question, text, *trimmed(text, span.start, span.end))
    return Reading("span", text[start:end], span.passage, start, end, span.score, sure)


def _weighed(question: str, reading: Reading, repeated: float) -> Reading:
    """With its score as it is, or by the factor of one that only stands in the question."""
    return replace(reading, score=reading.score * (repeated if holds(question, reading.text) else 1.0))


def _placed(answer: str, passages: Sequence[str]) -> Reading:
    """A worked-out answer as a reading: yes, no, or a name where a passage has it."""
    if answer in {"yes", "no"}:
        return Reading("yes" if answer == "yes" else "no", answer, -1, 0, 0, _RULE_HELD, _RULE_HELD)
    for place, passage in enumerate(passages):
        start = passage.lower().find(answer.lower())
        if start >= 0:
            end = start + len(answer)
            return Reading("span", passage[start:end], place, start, end, _RULE_HELD, _RULE_HELD)
    return Reading("span", answer, -1, 0, 0, _RULE_HELD, _RULE_HELD)


def _names(text: str, offered: tuple[str, str]) -> bool:
    return any(text.lower() == name.lower() for name in offered)


def with_outcome(found: Sequence[Reading], outcome: WorkedOut, passages: Sequence[str]) -> list[Reading]:
    """Readings after the rules of comparison: a worked-out answer first; less surety where none could be worked out."""
    if not outcome.applies:
        return list(found)
    if outcome.answer is None:
        return [replace(reading, answerable=min(reading.answerable, _RULE_FAILED)) for reading in found]
    first = _placed(outcome.answer, passages)
    others = [
        replace(reading, answerable=_RULE_HELD) for reading in found if reading.text.lower() != first.text.lower()
    ]
    return [first, *others]
