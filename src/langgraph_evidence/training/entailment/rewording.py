"""The same statement in other words: dates, numbers, contractions, passives, additions that say nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.training.entailment.changes import MONTHS

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Rewording = Callable[[str, random.Random], str]

_MONTH = "|".join(MONTHS)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) ({_MONTH}),? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}}), ?(\d{{4}})\b")
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_DIGITS = re.compile(r"(?<![\w.,:/-])(\d|1[0-2])(?= [a-z]{3,})(?! (?:million|billion|percent|January|May))")
_WORD = re.compile(rf"\b({'|'.join(_WORDS[2:])})(?= [a-z])")
_THOUSANDS = re.compile(r"\b(\d{1,3}),(\d{3})\b")
_CONTRACTIONS = (
    ("is not", "isn't"), ("was not", "wasn't"), ("are not", "aren't"), ("were not", "weren't"),
    ("did not", "didn't"), ("does not", "doesn't"), ("has not", "hasn't"), ("cannot", "can't"),
    ("could not", "couldn't"), ("will not", "won't"), ("it is", "it's"), ("It is", "It's"),
    ("do not", "don't"), ("have not", "haven't"), ("had not", "hadn't"), ("would not", "wouldn't"),
)  # fmt: skip
_PREFIXES = (
    "According to the text, {}", "According to the passage, {}", "The text says that {}", "It is stated that {}",
    "As the evidence shows, {}", "Based on the passages, {}", "The sources say that {}", "In fact, {}",
    "So {}", "Therefore, {}", "It is known that {}", "{} This is what the text says.",
)  # fmt: skip
_PASSIVE = re.compile(
    r"^(.+?) (was|were|is) (directed|written|produced|founded|created|composed|designed|published|recorded|released|"
    r"developed|built|won|performed|discovered|invented|edited|sung) by ([A-Z][^,;()]+?)\.?$"
)
_ACTIVE_FORMS = {"written": "wrote", "built": "built", "won": "won", "sung": "sang"}
_ACTIVE = re.compile(
    r"^([A-Z][\w'’. -]+?) (directed|wrote|produced|founded|created|composed|designed|published|developed|invented|"
    r"discovered|edited) ([A-Z\"“'][^,;()]+?)\.?$"
)
_PASSIVE_FORMS = {"wrote": "written"}
_APPOSITION = re.compile(r"^([A-Z][\w'’. -]+), (?:an?|the) [^,]+, (is|was|has|had|were|are|won|played|plays)\b")
_SYNONYMS = (
    ("is located in", "lies in"), ("film", "movie"), ("movie", "film"),
    ("is situated in", "is located in"), ("starred in", "had a role in"), ("wife", "spouse"), ("husband", "spouse"),
    ("began", "started"), ("started", "began"), ("purchased", "bought"), ("died in", "passed away in"),
    ("located", "situated"), ("United States", "USA"), ("United Kingdom", "UK"), ("approximately", "about"),
    ("also", "as well"), ("born on", "born"), ("large", "big"), ("children", "kids"), ("received", "was given"),
)  # fmt: skip


def dates(text: str, rng: random.Random) -> str:
    """12 March 1948 and March 12, 1948 in each other's form, or the numeric one."""
    if rng.random() < 0.15:
        return _DAY_FIRST.sub(lambda m: f"{m[3]}-{MONTHS.index(m[2]) + 1:02}-{int(m[1]):02}", text)
    if _DAY_FIRST.search(text):
        return _DAY_FIRST.sub(r"\2 \1, \3", text)
    return _MONTH_FIRST.sub(r"\2 \1 \3", text)


def numbers(text: str, _rng: random.Random) -> str:
    """Three for 3 and 3 for three, 1000 for 1,000."""
    if _DIGITS.search(text):
        return _DIGITS.sub(lambda m: _WORDS[int(m[1])], text)
    return _THOUSANDS.sub(r"\1\2", _WORD.sub(lambda m: str(_WORDS.index(m[1])), text))


def contractions(text: str, _rng: random.Random) -> str:
    """Is not and isn't in each other's form."""
    for long, short in _CONTRACTIONS:
        if long in text:
            return text.replace(long, short)
        if short in text:
            return text.replace(short, long)
    return text


def attributed(text: str, rng: random.Random) -> str:
    """With words around it that say nothing: "According to the text, ..."."""
    return rng.choice(_PREFIXES).format(text)


def voice(text: str, _rng: random.Random) -> str:
    """Passive for active and active for passive, for the commonest verbs."""
    passive = _PASSIVE.match(text)
    if passive:
        verb = _ACTIVE_FORMS.get(passive[3], passive[3])
        acted = passive[1].removeprefix("The ")
        return f"{passive[4]} {verb} {'the ' if acted != passive[1] else ''}{acted}."
    return _ACTIVE.sub(lambda m: f"{m[3]} was {_PASSIVE_FORMS.get(m[2], m[2])} by {m[1]}.", text)


def shorter(text: str, _rng: random.Random) -> str:
    """Without an apposition."""
    return _APPOSITION.sub(r"\1 \2", text)


def synonyms(text: str, rng: random.Random) -> str:
    """One word or phrase for another of the same meaning."""
    known = [(old, new) for old, new in _SYNONYMS if old in text]
    return text.replace(*rng.choice(known), 1) if known else text


_ANY_TEXT: tuple[Rewording, ...] = (dates, numbers, contractions, synonyms)
_STATEMENTS: tuple[Rewording, ...] = (*_ANY_TEXT, attributed, voice, shorter)


def reword(text: str, rng: random.Random) -> str | None:
    """The text with one of the rewordings that apply, None where none does."""
    ways = _ANY_TEXT if "?" in text else _STATEMENTS
    for way in rng.sample(ways, len(ways)):
        changed = way(text, rng)
        if changed != text:
            return changed
    return None
