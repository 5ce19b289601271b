"""What kind of answer a question wants, told from its words. Pure functions; none of them looks at the evidence."""

from __future__ import annotations

import re

_AUXILIARY = re.compile(
    r"^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b", re.IGNORECASE
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_NAME_WORD = r"(?:[\"'“(]*[A-Z0-9À-Þ][^\s,?]*)"
_SMALL = r"(?:of|the|and|de|la|le|el|al|in|on|at|to|for|a|an|von|van|der|&|-|with|from|by)"
_NAME = rf"{_NAME_WORD}(?: (?:{_SMALL} )*{_NAME_WORD})*"
_CHOICE = re.compile(rf"({_NAME}),? or ({_NAME})")
_COMMA_CHOICE = re.compile(r"[,:;] ?(?:between )?([^,]+?),? or ([^,?]+)\??\s*$")
_OUT_OF = re.compile(rf"\bout of ({_NAME}) and ({_NAME})")
_YEAR_ASKED = re.compile(r"\b(?:what|which) year\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_DATE_ASKED = re.compile(r"^when\b|\bdate of (?:birth|death)\b|\bbirthday\b", re.IGNORECASE)
_DEATH_ASKED = re.compile(r"\b(?:die|died|death)\b", re.IGNORECASE)
_RANGE = re.compile(r"\s+[\u2013\u2014-]\s*|\s*[\u2013\u2014]\s+")
_BOTH = re.compile(r"\b(?:both|same)\b", re.IGNORECASE)
_LEADING = re.compile(r"^(?:the|a|an) (?=\w)", re.IGNORECASE)
_QUOTES = "\"'“”‘’`"


def is_polar(question: str) -> bool:
    """Whether a question wants yes or no: it starts with an auxiliary verb and offers no choice."""
    return bool(_AUXILIARY.match(question.strip())) and (choices(question) is None or bool(_BOTH.search(question)))


def choices(question: str) -> tuple[str, str] | None:
    """The two names a question lets one choose between ("Who is older, A or B?"), or None."""
    question = " ".join(question.split())
    if _OR.search(question):
        match = _COMMA_CHOICE.search(question) or _CHOICE.search(_uncapitalised(question))
    else:
        match = _OUT_OF.search(question)
    if match is None:
        return None
    first, second = (side.strip().strip(_QUOTES).strip() for side in match.groups())
    return (first, second) if first and second else None


def _uncapitalised(question: str) -> str:
    first, space, rest = question.partition(" ")
    return f"{first.lower()}{space}{rest}"


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without surrounding space, quotes and punctuation that no answer needs, and without a leading article.

    A bracket, quote or full stop stays where its partner or its abbreviation is inside the span.
    """
    while start < end and (text[start].isspace() or text[start] in ",;:" or _unpaired(text, start, start, end)):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;:" or _unpaired(text, end - 1, start, end)):
        end -= 1
    article = _LEADING.match(text[start:end])
    return (start + article.end() if article else start), end


def narrowed(question: str, text: str, start: int, end: int) -> tuple[int, int]:
    """A span cut to what was asked: to the year of a date, to one side of a span of life ("1912 - 1954")."""
    span = text[start:end]
    year = _YEAR.search(span)
    if _YEAR_ASKED.search(question) and year:
        return start + year.start(), start + year.end()
    middle = _RANGE.search(span)
    if (
        _DATE_ASKED.search(question)
        and middle
        and all(map(_YEAR.search, (span[: middle.start()], span[middle.end() :])))
    ):
        return (start + middle.end(), end) if _DEATH_ASKED.search(question) else (start, start + middle.start())
    return start, end


def _unpaired(text: str, place: int, start: int, end: int) -> bool:
    mark, inside = text[place], text[start:end]
    if mark in _QUOTES:
        return inside.count(mark) % 2 == 1
    if mark in "()":
        return inside.count("(") != inside.count(")")
    return False
