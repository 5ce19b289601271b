"""Comparisons worked out: which of two came first or last, and whether two share a country. Pure functions.

A reader of spans has no arithmetic; what these questions turn on stands in fixed places of encyclopedic passages
(dates in brackets after a person's name, a work's year and a nationality in the first sentence) and is read by rule.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from langgraph_evidence.models.reader.answer_types import choices

if TYPE_CHECKING:
    from collections.abc import Sequence

Quantity = Literal["birth", "death", "life", "year"]
Date = tuple[int, int, int]
"""Year, month, day; 0 where not told."""

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"(?:(?P<day>\d{{1,2}}) (?P<month>{_MONTH})|(?P<month2>{_MONTH})(?: (?P<day2>\d{{1,2}}))?),? (?P<year>\d{{3,4}})"
    r"|\b(?P<only>1\d{3}|20\d{2})\b(?!-?seat)",
    re.IGNORECASE,
)
_LATE = r"(?:later|last|more recently|most recently|latest|after|second|newer)"
_EARLY = r"(?:first|earlier|earliest|before|older|oldest)"
_MADE_OR_BEGUN = (
    "released?|came out|came to market|published|premiered|aired|debuted|founded|established|formed|started|created|"
    "opened|launched|introduced|made|produced?|filmed|built|constructed|developed|began|occurred|took place"
)
_PHRASES: tuple[tuple[str, Quantity, bool], ...] = (
    (r"\blive[sd]?\b.*\blonger\b|\blonger (?:life|lifespan)\b", "life", True),
    (rf"\b(?:died|die|dead|passed away|death)\b.*\b{_LATE}\b", "death", True),
    (rf"\b(?:died|die|dead|passed away|death)\b.*\b{_EARLY}\b", "death", False),
    (rf"\byounger\b|\byoungest\b|\b(?:born|birth)\b.*\b{_LATE}\b|\b{_LATE} born\b", "birth", True),
    (rf"\bolder\b|\boldest\b|\b(?:born|birth)\b.*\b{_EARLY}\b|\b{_EARLY} born\b", "birth", False),
    (rf"\b(?:{_MADE_OR_BEGUN})\b.*\b{_LATE}\b|\bnewer\b", "year", True),
    (rf"\b(?:{_MADE_OR_BEGUN})\b.*\b{_EARLY}\b", "year", False),
)
_RULES = [(re.compile(pattern, re.IGNORECASE), fact, latest) for pattern, fact, latest in _PHRASES]
_MADE = {
    "director": "directed",
    "composer": "composed|music|scored",
    "producer": "produced",
    "author": "written",
    "writer": "written",
    "performer": "performed|sung|recorded|song|single",
    "singer": "performed|sung|recorded|song|single",
}
_ROLES = "|".join(_MADE)
_ROLE = re.compile(rf"\b(?:ha(?:s|ve) the|whose|the) ({_ROLES})s?\b|\b({_ROLES})s? of\b", re.IGNORECASE)
_SAME = re.compile(r"\bsame (?:nationality|country|citizenship)\b", re.IGNORECASE)
_WORK_YEAR = re.compile(r"\b(?:is|was) an? (1\d{3}|20\d{2})\b")
_DESCRIBED = re.compile(r"\b(?:is|was|are|were) (?:an?|the|in|located|situated) ([^.(]{3,300})")
_BEFORE_PLACE = re.compile(r"[,;]|\b(?:in|from|of|by|on|at|near|who|which|that|located|situated)\b")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")
_NO_COUNTRY = frozenset(
    "Rural District Region County Province State North South East West Northern Southern Eastern Western New Bay River "
    "City Island School University".split()
)
_BRITISH = frozenset({"English", "Scottish", "Welsh"})
_LEAD_ENDS = re.compile(r" ?\(|,| (?:is|was|are|were) ")
_LONGEST_TITLE = 200
_NAME = r"((?:[A-Z](?:\.|[\w'\u2019-]+) ?){1,5})"
_BEGUN = re.compile(
    r"\b(?:founded|established|formed|created|opened|launched|incorporated|started|began|released|published|premiered)\b"
    r"[^.]{0,60}?\b(1\d{3}|20\d{2})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Comparison:
    """What a question compares.

    Args:
        fact: Of each side: birth, death, length of life, or year (of a work or a founding).
        latest: Whether the later (longer) one is asked for.
        role: Whose birth or death it is, where not the side's own: the director's of a film, say.
    """

    fact: Quantity
    latest: bool
    role: str | None


Ask = Callable[[str, str], str]
"""A question and one passage to an answer; empty for none."""


@dataclass(frozen=True)
class WorkedOut:
    """Whether a question is of this kind, and what its answer is where the passages tell."""

    applies: bool
    answer: str | None = None


def comparison(question: str, sides: tuple[str, str]) -> Comparison | None:
    """What the question compares of the two, or None where it is no comparison of dates."""
    asked = question
    for side in sides:
        asked = asked.replace(side, " ")
    for pattern, fact, latest in _RULES:
        if pattern.search(asked):
            return Comparison(fact, latest, role_in(asked) if fact != "year" else None)
    return None


def role_in(question: str) -> str | None:
    """Whose fact it is, where not the side's own ("the director", "composers of"); or None."""
    match = _ROLE.search(question)
    return (match[1] or match[2]).lower() if match else None


def dates(text: str) -> list[Date]:
    """The dates of a text, in its order."""
    return [_date(match) for match in _DATE.finditer(text)]


def _date(match: re.Match[str]) -> Date:
    if match["only"]:
        return int(match["only"]), 0, 0
    month = (match["month"] or match["month2"]).lower()
    return int(match["year"]), _MONTHS.index(month) + 1, int(match["day"] or match["day2"] or 0)


def fact_of(passage: str, fact: Quantity) -> float | None:
    """A passage's fact as a number to compare, in years; None where it is not told."""
    title, _, text = passage.partition(": ")
    if fact == "year":
        begun = _BEGUN.search(text[:600])
        years = dates(text[:300]) or dates(title)
        return float(begun[1]) if begun and not years else _number(years[0]) if years else None
    born, died = _life(text)
    if fact == "life":
        return died - born if born is not None and died is not None else None
    if fact == "death":
        return died
    work = _WORK_YEAR.search(text[:200])
    return float(work[1]) if born is None and work else born


def _life(text: str) -> tuple[float | None, float | None]:
    for inside in re.findall(r"\(([^()]*\d{3,4}[^()]*)\)", text[:400]):
        numbers = [_number(date) for date in dates(inside)]
        if len(numbers) > 1:
            return numbers[0], numbers[-1]
        if numbers:
            return (None, numbers[0]) if "died" in inside else (numbers[0], _told(text, "died"))
    return _told(text, "born"), _told(text, "died")


def _told(text: str, verb: str) -> float | None:
    match = re.search(rf"\b{verb}\b([^.]{{0,80}})", text[:800])
    found = dates(match[1]) if match else []
    return _number(found[0]) if found else None


def _number(date: Date) -> float:
    year, month, day = date
    return year + month / 13 + day / 500


def plain(name: str) -> str:
    """A name without case, accents, brackets, punctuation and article, for comparing titles."""
    letters = unicodedata.normalize("NFKD", re.sub(r"\([^)]*\)", " ", name.lower()))
    words = re.findall(r"\w+", "".join(letter for letter in letters if not unicodedata.combining(letter)))
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


def about(name: str, passages: Sequence[str]) -> int | None:
    """The passage that begins with this name, or else the only one whose title has all its words; None without one."""
    wanted = plain(name)
    if not wanted:
        return None
    titles = [plain(_heading(passage)) for passage in passages]
    if wanted in titles:
        return titles.index(wanted)
    begins = [place for place, passage in enumerate(passages) if f"{plain(passage[:200])} ".startswith(f"{wanted} ")]
    close = [place for place, title in enumerate(titles) if {*wanted.split()} <= {*title.split()}]
    found = begins or close
    return found[0] if len(found) == 1 else None


def _heading(passage: str) -> str:
    """A passage's title; where none is written before it, for it begins with its title, what it begins with."""
    title, colon, _ = passage[:_LONGEST_TITLE].partition(": ")
    return title if colon else _LEAD_ENDS.split(passage[:_LONGEST_TITLE], maxsplit=1)[0]


def _subject(side: str, role: str | None, passages: Sequence[str], ask: Ask) -> str | None:
    place = about(side, passages)
    if place is not None and role is not None:
        made = re.search(rf"\b(?:{_MADE[role]})\b[^.]{{0,40}}?\bby {_NAME}", passages[place])
        told = about(made[1], passages) if made else None
        place = told if told is not None else about(ask(f"Who is the {role} of {side}?", passages[place]), passages)
    return None if place is None else passages[place]


def compared(question: str, sides: tuple[str, str], passages: Sequence[str], ask: Ask) -> WorkedOut:
    """Works out a comparison of dates.

    Args:
        question: The question.
        sides: The two names it offers.
        passages: The evidence, as `Title: text`.
        ask: Answers a question from one passage (who directed a film).
    """
    wanted = comparison(question, sides)
    if wanted is None:
        return WorkedOut(applies=False)
    subjects = [_subject(side, wanted.role, passages, ask) for side in sides]
    first, second = (None if text is None else fact_of(text, wanted.fact) for text in subjects)
    if first is None or second is None or first == second:
        return WorkedOut(applies=True)
    return WorkedOut(applies=True, answer=sides[int((second > first) == wanted.latest)])


def mentioned(question: str, passages: Sequence[str]) -> list[str]:
    """The titles of passages that stand in the question, in its order."""
    asked = f" {plain(question)} "
    titles = dict.fromkeys(passage.partition(": ")[0] for passage in passages)
    found = [(asked.find(f" {plain(title)} "), title) for title in titles if plain(title)]
    return [title for place, title in sorted(found) if place >= 0]


def countries(passage: str) -> set[str]:
    """The capitalised words that describe what a passage is about: its nationality, or the places it lies in."""
    title, _, text = passage.partition(": ")
    match = _DESCRIBED.search(text[:500])
    sentence = match[1] if match else text[:200].partition(". ")[0]
    parts = [part for part in sentence.split(",") if _CAPITALISED.search(part)]
    own = {*title.split()} | _NO_COUNTRY
    words = {*_CAPITALISED.findall(_BEFORE_PLACE.split(sentence)[0])} - own
    words = words or {*_CAPITALISED.findall(parts[-1] if parts else "")} - own
    return {"British" if word in _BRITISH else word for word in words}


def same_country(question: str, passages: Sequence[str], ask: Ask) -> WorkedOut:
    """Works out whether two subjects, or their directors and the like, share a nationality or country."""
    if not _SAME.search(question):
        return WorkedOut(applies=False)
    role = role_in(question)
    subjects = [_subject(title, role, passages, ask) for title in mentioned(question, passages)[:2]]
    told = [countries(text) for text in subjects if text is not None]
    if len(told) != 2 or not all(told):
        return WorkedOut(applies=True)
    return WorkedOut(applies=True, answer="yes" if told[0] & told[1] else "no")


def whole_names(question: str, sides: tuple[str, str], passages: Sequence[str]) -> tuple[str, str]:
    """The two names as passages' titles have them in the question: a comma in a name cuts it ("Now, Voyager")."""
    found = list(sides)
    for passage in passages:
        title = re.sub(r" ?\([^)]*\)", "", passage.partition(": ")[0])
        stands = re.search(re.escape(title), question, re.IGNORECASE) if "," in title else None
        for place, side in enumerate(sides):
            if stands and side in stands[0]:
                found[place] = stands[0]
    return found[0], found[1]


def worked_out(question: str, passages: Sequence[str], ask: Ask) -> WorkedOut:
    """What the rules of this file make of a question: a comparison of two offered names, or of two countries."""
    sides = choices(question)
    if sides is None:
        return same_country(question, passages, ask)
    return compared(question, whole_names(question, sides, passages), passages, ask)
