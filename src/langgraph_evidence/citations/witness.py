"""A second witness: a reader that is asked over the quotes must give the same answer.

An entailment model of the shipped size takes any name of a passage for the answer; a reader points at one. So the
question of a short answer is asked again, and of a longer statement each date that the quotes rival. (Answering
questions to check facts: Wang, Cho and Lewis 2020, arXiv 2004.04228.)
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from langgraph_evidence.citations.agreement import of_one_name, opposed, other_numerals, other_units
from langgraph_evidence.citations.facts import facts_of, held_by
from langgraph_evidence.citations.guarded import probability
from langgraph_evidence.citations.quotes import premise
from langgraph_evidence.text import holds, normalise_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langgraph_evidence.citations.quotes import Quote
    from langgraph_evidence.citations.statements import Statement

_CANDIDATES = 10
_READ = 2000
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}} {_MONTH}(?:,? {_YEAR})?|{_MONTH} (?:\d{{1,2}}(?:,? {_YEAR})?|{_YEAR})|"
    rf"\d{{4}}-\d\d-\d\d|{_YEAR})\b"
)
# A repeated date is one fact, and of a sentence of dates a few are proof enough; a question is no page.
_MOST_DATES, _AROUND = 8, 150
_BEFORE_DATE = re.compile(r"\b(?:in|on) $", re.IGNORECASE)


class GivenAnswer(Protocol):
    """An answer that a reader gives."""

    @property
    def text(self) -> str:
        """In the words of the text, or yes or no."""
        ...

    @property
    def score(self) -> float:
        """How likely this very answer is right, in [0, 1]."""
        ...


class AnswerReader(Protocol):
    """Answers questions from passages: `models.reader.Reader`, or anything like it."""

    def candidates(self, question: str, passages: Sequence[str], k: int = 5) -> Sequence[GivenAnswer]:
        """The best `k` answers, best first."""
        ...


def told_again(reader: AnswerReader, question: str, statement: Statement, quotes: Sequence[Quote]) -> float | None:
    """How likely a reader of the quotes says what a statement says, in [0, 1].

    Args:
        reader: Is asked.
        question: What a short answer answers.
        statement: The short answer, or a sentence.
        quotes: What is cited for it.

    Returns:
        None where nothing is to be asked: a sentence without a date that another one in the quotes rivals.
    """
    lines = [quote.titled for quote in quotes]
    if statement.text != statement.said:
        return _given(reader, question, statement.said, lines)
    asked = list(_rivalled_dates(statement.said, premise(quotes)))
    return min((_given(reader, cloze, date, lines) for cloze, date in asked), default=None)


def _given(reader: AnswerReader, question: str, said: str, lines: Sequence[str]) -> float:
    found = reader.candidates(question, lines, _CANDIDATES)
    scores = [probability(answer.score, of="The reader") for answer in found if says_the_same(said, answer.text)]
    return max(scores, default=0.0)


def _rivalled_dates(said: str, text: str) -> Iterator[tuple[str, str]]:
    """The dates of a sentence beside which the text has another, with the sentence as the question when it was."""
    rivals = {facts_of(date[0]) for date in _DATE.finditer(text)}
    own = {date[0]: date for date in reversed([*islice(_DATE.finditer(said), _MOST_DATES)])}
    for written, date in sorted(own.items(), key=lambda known: known[1].start()):
        if any(not rival <= facts_of(written) for rival in rivals):
            before = _BEFORE_DATE.sub("", said[max(0, date.start() - _AROUND) : date.start()])
            yield f"{before}when{said[date.end() : date.end() + _AROUND].rstrip('. ')}?", written


def says_the_same(said: str, given: str) -> bool:
    """Whether two answers say the same: the same numbers and dates; of names, one may be a part of the other's.

    They do not where one denies what the other says, where it counts something else, where a name has another numeral,
    and where it names more than one who is named. An answer beyond any length says nothing.
    """
    if len(said) + len(given) > _READ or opposed(said, given):
        return False
    facts, others = facts_of(said), facts_of(given)
    numbers, names = _numbers(facts), facts - _numbers(facts)
    if not numbers <= held_by(given) or other_units(said, given) or other_numerals(said, given):
        return False
    if names:
        told = others - _numbers(others)
        return names <= held_by(given) or bool(told and told <= names and of_one_name(said))
    if numbers:
        return True
    one, other = normalise_answer(said), normalise_answer(given)
    return bool(one and other) and (holds(one, other) or holds(other, one))


def _numbers(facts: frozenset[str]) -> frozenset[str]:
    return frozenset(fact for fact in facts if fact.startswith(("=", "month:")))
