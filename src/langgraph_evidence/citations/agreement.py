"""What makes two answers that share their words disagree: a no, a before, another unit, another numeral, more names."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from langgraph_evidence.citations.facts import facts_of, held_by, legible
from langgraph_evidence.citations.names import names
from langgraph_evidence.citations.quantities import MONTHS, quantities
from langgraph_evidence.text import STOP_WORDS, language, normalise_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

# "No. 5" denies nothing.
_NOT = re.compile(
    r"\b(?:not|no(?!\.\s?\d)|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
_YES_NO = re.compile(
    r"\W{0,9}(yes|no)\b(?:\W{0,9}\Z|[^\w\s]|\s(?:he|she|it|they|we|i|you|the|that|this|these|those|there|not|both)\b)",
    re.IGNORECASE,
)
# "Named after Paul" is about Paul.
_WHEN = re.compile(
    r"\b(?<!named )(?<!called )(before|after|until|since|prior to)\s(?:(?:the|about|around|circa|ca?\.)\s)?([\w.,-]+)",
    re.IGNORECASE,
)
_WITHIN_A_NAME = re.compile(
    r"(?:[\s\"\u201c\u201d\u2018\u2019'-]|\b[A-Z]\b\.?|\b(?:of|[tT]he|de|del|della|di|da|du|der|den|des|la|le|van|von|y|al|"
    r"el|bin|ibn|Mr|Mrs|Ms|Dr)\b\.?)*"
)
_COUNTED = re.compile(r"(?:st|nd|rd|th)?\b[\s-]{0,2}(?:\u00b0\s?[CFK]\b|[%\u00b0]|[^\W\d_]+(?:[ -][^\W\d_]+){0,2})?")
_UNIT_WORD = re.compile(r"\u00b0\s?[CFK]\b|[%\u00b0]|[^\W\d_]+")
_ENDING = re.compile(r"(?:st|nd|rd|th)\b")
_NO_UNITS = STOP_WORDS | MONTHS.keys() | frozenset("bc bce ad ce".split())
_SIGNS = {"$": "dollar", "\u00a3": "pound", "\u20ac": "euro", "\u00a5": "yen"}
_LONG_FORMS = {
    short: unit
    for unit, shorts in {
        "kilometre": "km kilometer", "metre": "m meter", "centimetre": "cm centimeter", "millimetre": "mm millimeter",
        "mile": "mi", "foot": "ft feet", "inch": "in", "yard": "yd", "kilogram": "kg kilogramme", "gram": "g gramme",
        "pound": "lb lbs gbp", "tonne": "t", "hour": "h hr", "minute": "min", "second": "s sec", "year": "yr",
        "percent": "% percentage", "man": "men", "woman": "women", "child": "children", "person": "people",
        "dollar": "usd", "euro": "eur", "degree": "\u00b0",
    }.items()
    for short in shorts.split()
}  # fmt: skip


def opposed(said: str, given: str) -> bool:
    """Whether exactly one of two answers denies, or tells a time before or after what the other one tells."""
    if {normalise_answer(said), normalise_answer(given)} & {"yes", "no"}:
        return _yes_or_no(said) != _yes_or_no(given)
    if bool(_NOT.search(said)) != bool(_NOT.search(given)):
        return True
    return _placed(said, given) != _placed(given, said)


def _yes_or_no(text: str) -> str:
    found = _YES_NO.match(text)
    return found[1].lower() if found else ""


def _placed(text: str, other: str) -> set[str]:
    """The words that place something of the other answer in time: the `before` of `before 1990` beside `1990`."""
    shared = held_by(other)
    return {found[1].lower() for found in _WHEN.finditer(text) if held_by(found[2]) & shared}


def other_units(said: str, given: str) -> bool:
    """Whether a number of both answers counts one thing in one and another in the other."""
    one, other = _units(said), _units(given)
    return any(not _any_alike(one[number], other[number]) for number in one.keys() & other.keys())


def _units(text: str) -> dict[str, list[list[str]]]:
    """The words after each number that has any, up to three, which may be its unit."""
    seen = legible(text)
    found: dict[str, list[list[str]]] = {}
    for number in quantities(seen):
        counted = [*_sign(seen, number.start), *_counted(seen, number.end)]
        if counted and number.fact.startswith("="):
            found.setdefault(number.fact, []).append(counted)
    return found


def _sign(text: str, start: int) -> list[str]:
    before = text[start - 1 : start]
    return [_SIGNS[before]] if before in _SIGNS else []


def _counted(text: str, end: int) -> Iterator[str]:
    match = _COUNTED.match(text, end)
    suffix = _ENDING.match(text, end)
    for word in _UNIT_WORD.findall(text, suffix.end() if suffix else end, match.end()) if match else ():
        if word.lower() in _NO_UNITS:
            return
        stem = language("en").stem(word.lower())
        yield _LONG_FORMS.get(word.lower(), _LONG_FORMS.get(stem, stem))


def _any_alike(one: list[list[str]], other: list[list[str]]) -> bool:
    """An adjective may stand before what is counted: `10 feature films` are `10 films`."""
    return any(a[0] in b or b[0] in a for a in one for b in other)


def other_numerals(said: str, given: str) -> bool:
    """Whether a name of both answers has a numeral or letter behind it in one that it has not in the other."""
    one, other = held_by(said), held_by(given)
    return _told_apart(facts_of(said), other) or _told_apart(facts_of(given), one)


def _told_apart(facts: frozenset[str], held: frozenset[str]) -> bool:
    numbered = [fact for fact in facts if " " in fact and not fact.startswith("=")]
    return any(fact not in held and fact.split()[0] in held for fact in numbered)


def of_one_name(said: str) -> bool:
    """Whether all names of an answer stand in one run: no `and`, comma or verb between them."""
    seen = legible(said)
    found = names(seen)
    gaps = [seen[one.end : other.start] for one, other in pairwise(found)]
    return all(_WITHIN_A_NAME.fullmatch(gap) for gap in gaps)
