"""The details of a sentence that a changed answer changes: its names, numbers and dates, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from langgraph_evidence.text import words

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
"""The number that each is stands at its place."""

_MONTH = "|".join(MONTHS)
_YEAR = r"(?:1[0-9]|20)\d\d"
DATE = re.compile(
    rf"(?<![-–/.])\b(?:(?:(?P<month>{_MONTH}) (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>{_YEAR}))"
    rf"|(?:(?P<day2>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month2>{_MONTH}),? (?P<year2>{_YEAR}))"
    rf"|(?:(?P<month3>{_MONTH}),? (?P<year3>{_YEAR}))"
    rf"|(?P<year4>{_YEAR}))\b(?![-–/]\d|s\b|,\d)"
)
"""A day, a month of a year, or a year."""
NUMBER = re.compile(r"(?<![\w.,$-])\d[\d,]*(?:\.\d+)?(?:st|nd|rd|th)?(?![\w-]|[.,]\d)")
"""A number in digits, or an ordinal."""
# A day without its year is no number.
_DAY = re.compile(rf"(?:{_MONTH}) \d\d?|\d\d?(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})")
_WORD_NUMBER = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS[2:])})\b")
_PARTICLE = r"(?:of|the|de|la|del|von|van|der|da|di|al|bin|and the|for)"
_CAPITAL = r"(?:[A-Z]\.(?:[A-Z]\.)*|[A-ZÀ-ÖØ-Þ][\w'’]*(?:-[\w'’]+)*)"
_NAME = re.compile(rf"(?<![\w'’-]){_CAPITAL}(?: (?:{_PARTICLE} )?{_CAPITAL})*")
# Words that begin sentences, and names of nothing in particular.
_NO_NAME = frozenset(
    """the a an in on at it its he his him she her they their this that these those there who what when where which why
    how is are was were do does did has have had and but or if as for from by with after before during while since
    although though however according based both not no yes one two three four five six seven eight nine ten i we you my
    our some many most all each every other another such also only despite later early upon under
    over through within without among across born new first second third
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday mr mrs ms dr sir lord king queen prince princess president us""".split()
)
_SHORTEST = 2
_DEMONYM = re.compile(
    r"(?:\w+(?:ian|ish|ese|can|ean|xan)|German|French|Dutch|Greek|Swiss|Iraqi|Israeli|Welsh|Roman|Indian)s?"
)


class Detail(NamedTuple):
    """A detail as it is written, and its place."""

    text: str
    start: int
    end: int


def names(text: str) -> list[Detail]:
    """Runs of capitalised words; none that only begins a sentence, and no nationality."""
    found = []
    for match in _NAME.finditer(text):
        start, name = match.start(), match[0].removesuffix("'s").removesuffix("’s")
        while (first := name.split(" ")[0]).lower() in _NO_NAME and " " in name:
            start, name = start + len(first) + 1, name[len(first) + 1 :]
        if _is_name(name) and (" " in name or not _begins(text, start)):
            found.append(Detail(name, start, start + len(name)))
    return found


def _is_name(name: str) -> bool:
    return (
        len(name) > 2
        and name.lower() not in _NO_NAME
        and name[0].isupper()
        and not _DEMONYM.fullmatch(name.split()[-1])
    )


def _begins(text: str, place: int) -> bool:
    """Whether a place is where a sentence begins, so that its capital says nothing."""
    before = text[:place].rstrip(" \"'“‘([")
    return not before or before[-1] in ".!?:"


def dates(text: str) -> list[Detail]:
    """Days, months of a year, and years."""
    return [Detail(match[0], match.start(), match.end()) for match in DATE.finditer(text)]


def numbers(text: str) -> list[Detail]:
    """Numbers that are no dates, in digits and, from two to twenty, in words."""
    taken = [found.span() for found in (*DATE.finditer(text), *_DAY.finditer(text))]
    both = [*NUMBER.finditer(text), *_WORD_NUMBER.finditer(text)]
    found = [Detail(match[0], match.start(), match.end()) for match in both]
    return sorted(
        (d for d in found if not re.fullmatch(_YEAR, d.text) and not any(d.start < e and s < d.end for s, e in taken)),
        key=lambda detail: detail.start,
    )


def value_of(number: str) -> float:
    """What a number says, in digits, as an ordinal, or as a word."""
    if number.lower() in NUMBER_WORDS:
        return float(NUMBER_WORDS.index(number.lower()))
    return float(re.sub(r"[^\d.]", "", number).rstrip("."))


def ordinal(number: int) -> str:
    """A number as 1st, 2nd, 3rd, 11th."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def share_word(one: str, other: str) -> bool:
    """Whether two names have a word in common, as a person's long and short name have."""
    return not set(words(one)).isdisjoint(words(other))
