"""A statement with one fact changed: a name, a number, a date, a negation, subject and object, a unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Change = Callable[[str, str, random.Random], str | None]

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = "|".join(MONTHS)
DATE = re.compile(rf"\b(?:\d{{1,2}} (?:{_MONTH}),? \d{{4}}|(?:{_MONTH}) \d{{1,2}}, ?\d{{4}}|(?:{_MONTH}) \d{{4}})\b")
YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20[0-4]\d\b")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[,.]\d+)*(?![\w]|[,.]\d)")
NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van|and) )?[A-Z][\w'’.-]+)*")
_COUNTS = "one two three four five six seven eight nine ten eleven twelve".split()
_COUNT = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_NO_NAMES = frozenset(
    """The A An In On At It He She They This That These Those There His Her Its Their What Who Which When Where Why How
    Are Is Was Were Did Do Does Has Have After Before During As For From By With And But If Also""".split()
)
_UNITS = (
    ("million", "billion"), ("kilometres", "miles"), ("kilometers", "miles"), ("km", "miles"), ("feet", "metres"),
    ("feet", "meters"), ("percent", "million"), ("years", "months"), ("days", "weeks"), ("hours", "minutes"),
    ("kg", "pounds"), ("dollars", "pounds"), ("thousand", "million"), ("inches", "feet"), ("acres", "hectares"),
    ("north", "south"), ("east", "west"), ("northern", "southern"), ("eastern", "western"), ("first", "last"),
    ("oldest", "youngest"), ("largest", "smallest"), ("more", "less"), ("most", "fewest"), ("before", "after"),
    ("increased", "decreased"), ("won", "lost"), ("older", "younger"), ("higher", "lower"), ("male", "female"),
    ("father", "mother"), ("son", "daughter"), ("brother", "sister"), ("husband", "wife"), ("his", "her"),
    ("he", "she"), ("always", "never"), ("all", "none"), ("birth", "death"), ("born", "buried"), ("began", "ended"),
    ("opened", "closed"), ("early", "late"), ("up", "down"), ("above", "below"), ("actor", "singer"),
    ("American", "British"), ("English", "French"), ("German", "Italian"), ("film", "novel"), ("album", "song"),
)  # fmt: skip
_OPPOSITES = {one: two for pair in _UNITS for one, two in (pair, pair[::-1])}
_OPPOSITE = re.compile(rf"\b(?:{'|'.join(sorted(_OPPOSITES, key=len, reverse=True))})\b")
_HELPER = re.compile(
    r"\b(is|are|was|were|has been|have been|had been|can|could|will|would|did|does|do|has|have|had|may|should)\b"
)
_VERB = re.compile(
    r"\b(won|made|became|began|wrote|played|died|lived|moved|served|joined|released|directed|starred|worked|received|"
    r"appeared|married|studied|founded|created|produced|published|led|lost|took|went|held|included|includes|contains|"
    r"stars|plays|works|lives|grew|gave|found|sold|reached|performed|recorded|competed|attended|graduated)\b"
)
_STEMS = {
    "won": "win", "made": "make", "became": "become", "began": "begin", "wrote": "write", "died": "die",
    "lived": "live", "moved": "move", "served": "serve", "released": "release", "married": "marry",
    "studied": "study", "created": "create", "produced": "produce", "led": "lead", "lost": "lose", "took": "take",
    "went": "go", "held": "hold", "included": "include", "grew": "grow", "gave": "give", "found": "find",
    "sold": "sell", "received": "receive", "competed": "compete", "graduated": "graduate",
}  # fmt: skip
_NOT = re.compile(r"\b(?:did not|does not|do not|didn't|doesn't|don't) |\bnot |\bnever |n't\b")


def names(text: str) -> list[str]:
    """The names of a text, in order, each once; sentence starters such as `The` are taken off."""
    found = []
    for match in NAME.findall(text):
        parts = match.split(" ")
        while parts and parts[0] in _NO_NAMES:
            parts = parts[1:]
        if parts and len(" ".join(parts)) > 2 and parts[0] not in MONTHS:
            found.append(" ".join(parts).rstrip(".").removesuffix("'s").removesuffix("’s"))
    return list(dict.fromkeys(found))


def like(text: str, premise: str, known: str = "") -> list[str]:
    """What else in the premise is of the same kind as `text` (date, year, number or name) and not in `known`."""
    if DATE.search(text):
        found: Sequence[str] = DATE.findall(premise)
    elif YEAR.fullmatch(text):
        found = YEAR.findall(premise)
    elif NUMBER.search(text):
        found = [number for number in NUMBER.findall(premise) if not YEAR.fullmatch(number)]
    elif text[:1].isupper():
        found = names(premise)
    else:
        return []
    lowered = f"{known} {text}".lower()
    return [other for other in dict.fromkeys(found) if not any(part in lowered for part in other.lower().split())]


def near(text: str, rng: random.Random) -> str | None:
    """A date, year or number near by but another; None where the text holds none."""
    spans = [*NUMBER.finditer(text)]
    if not spans:
        return _other_count(text, rng)
    span = rng.choice(spans)
    value = span[0].replace(",", "")
    if value.count(".") > 1:
        return None
    if not value.isdigit():
        return text[: span.start()] + str(round(float(value) + rng.choice([1, 2, 0.5, 3]), 2)) + text[span.end() :]
    number = int(value)
    step = rng.choice([1, 2, 3, 5, 10, 20]) if YEAR.fullmatch(value) else max(1, rng.choice([1, 1, 2, number // 3]))
    other = number + step if number <= step or rng.random() < 0.5 else number - step
    written = f"{other:,}" if "," in span[0] else str(other)
    return text[: span.start()] + written + text[span.end() :]


def _other_count(text: str, rng: random.Random) -> str | None:
    span = _COUNT.search(text)
    if span is None:
        return None
    other = rng.choice([count for count in _COUNTS if count != span[0].lower()])
    return text[: span.start()] + (other.capitalize() if span[0][0].isupper() else other) + text[span.end() :]


def change_number(text: str, premise: str, rng: random.Random) -> str | None:
    """A number, year or count exchanged for another of the premise, or for one near by."""
    own = NUMBER.findall(text)
    if own and rng.random() < 0.6:
        old = rng.choice(own)
        others = like(old, premise, text)
        if others:
            return text.replace(old, rng.choice(others), 1)
    return near(text, rng)


def change_date(text: str, premise: str, rng: random.Random) -> str | None:
    """A month exchanged, or else the day or year of a date."""
    own = DATE.findall(text)
    if not own:
        return None
    old = rng.choice(own)
    others = like(old, premise, text)
    if others and rng.random() < 0.4:
        return text.replace(old, rng.choice(others), 1)
    month = next(part for part in MONTHS if part in old)
    changed = old.replace(month, rng.choice([other for other in MONTHS if other != month]))
    return text.replace(old, changed if rng.random() < 0.5 else near(old, rng) or changed, 1)


def change_name(text: str, premise: str, rng: random.Random, pool: Sequence[str] = ()) -> str | None:
    """A name exchanged for another of the premise, or for one of the pool."""
    # The first word of a sentence is no name unless the premise has it too.
    own = [name for name in names(text) if not text.startswith(name) or name in premise or "?" in text]
    others = like(own[0], premise, text) if own else []
    chosen = rng.choice(others) if others and (not pool or rng.random() < 0.7) else rng.choice(pool) if pool else None
    if not own or chosen is None:
        return None
    return text.replace(rng.choice(own), chosen, 1)


def swap_names(text: str, _premise: str, _rng: random.Random) -> str | None:
    """The first and the last name in each other's place: who did it to whom."""
    own = names(text)
    if len(own) < 2 or own[0] in own[-1] or own[-1] in own[0]:
        return None
    return text.replace(own[0], "\0", 1).replace(own[-1], own[0], 1).replace("\0", own[-1], 1)


def change_unit(text: str, _premise: str, rng: random.Random) -> str | None:
    """A unit or a word exchanged for its opposite: million for billion, older for younger."""
    spans = [*_OPPOSITE.finditer(text)]
    if not spans:
        return None
    span = rng.choice(spans)
    return text[: span.start()] + _OPPOSITES[span[0]] + text[span.end() :]


def negate(text: str, _premise: str = "", rng: random.Random | None = None) -> str | None:
    """A negation taken out where there is one, else put in after the first helping verb or before a known verb."""
    if _NOT.search(text):
        return _NOT.sub("", text, count=1).replace("  ", " ")
    helper = _HELPER.search(text)
    if helper:
        word = "never" if rng is not None and rng.random() < 0.15 else "not"
        if helper[0] in {"is", "was", "are", "were", "did", "does"} and rng is not None and rng.random() < 0.25:
            return f"{text[: helper.end()]}n't{text[helper.end() :]}"
        end = helper.start() + len(helper[0].split(" ")[0])
        return f"{text[:end]} {word}{text[end:]}"
    verb = _VERB.search(text)
    if verb is None:
        return None
    past = verb[0].removesuffix("ed") if verb[0].endswith("ed") else verb[0].removesuffix("s")
    stem = _STEMS.get(verb[0], past)
    helping = "does not" if verb[0].endswith("s") else "did not"
    return f"{text[: verb.start()]}{helping} {stem}{text[verb.end() :]}"


CHANGES: dict[str, Change] = {
    "number": change_number, "date": change_date, "name": change_name, "swap": swap_names, "unit": change_unit,
    "negation": negate,
}  # fmt: skip
"""Each kind of change: from a text, the premise and a source of chance to the changed text, or None without one."""

CONTRADICTING = frozenset({"number", "date", "unit", "negation"})
"""The kinds that contradict what was stated; a name may be true as well."""
