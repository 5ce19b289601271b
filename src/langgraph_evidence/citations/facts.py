"""The gate that needs no model: the numbers, dates and names of a statement have to stand in what is quoted for it.

Other forms of the same number or date count: `1,200` and `1.2 thousand`, `3rd` and `third`, `5 May 2001` and
`2001-05-05`. The expressions are English; in another language the gate sees the digits and
the capital letters alone.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from langgraph_evidence.text import STOP_WORDS

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_UNITS = {word: value for value, word in enumerate(_SMALL)}
_UNITS |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_UNITS |= {word: value for value, word in enumerate(_ORDINALS) if word != "second"}  # of time, more often than not
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MONTHS = (
    "january february march april may june july august september october november december"
).split()  # fmt: skip
_MONTH_OF = {name: place for place, name in enumerate(_MONTHS, 1)} | {
    name[:3]: place for place, name in enumerate(_MONTHS, 1)
}
_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['\u2019.-][^\W\d_]+)*\.?")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
# Written with capitals and yet no name.
_NO_NAMES = STOP_WORDS | frozenset("yes no true false mr mrs ms dr according".split())
_LETTERS_OF_A_NAME = 2


@lru_cache(maxsize=4096)
def facts_of(text: str) -> frozenset[str]:
    """The numbers, the parts of dates and the words of names of a text, each in one form.

    A month is `month:5`, a number `=1200`, a word of a name itself, without case, accents or a possessive. The first
    word of a sentence counts as a name only where the next one, too, begins with a capital.
    """
    found = _TOKEN.findall(_ISO.sub(_spelt_out, text))
    return frozenset([*_quantities(found), *_names(found)])


@lru_cache(maxsize=16384)
def held_by(text: str) -> frozenset[str]:
    """What a quote holds for `facts_of` to be found in: its numbers, parts of dates, and all its words."""
    found = _TOKEN.findall(_ISO.sub(_spelt_out, text))
    return frozenset([*_quantities(found), *(part for token in found for part in _plain(token))])


def _spelt_out(date: re.Match[str]) -> str:
    month = int(date[2])
    return f"{int(date[3])} {_MONTHS[month - 1].title()} {date[1]}" if 1 <= month <= len(_MONTHS) else date[0]


def _quantities(found: list[str]) -> list[str]:
    """Each number as `=value`, whether in digits or in words, and each month that is written as a name."""
    out: list[str] = []
    run: list[str] = []
    for token in [*found, ""]:
        word = token.lower().rstrip(".")
        goes_on = run and (word in _SCALES or (_value(word) is not None and not word[0].isdigit()))
        if run and not goes_on:
            out.append(_total(run))
            run = []
        if goes_on or _value(word) is not None:
            run.append(word)
        if word in _MONTH_OF and token[0].isupper():
            out.append(f"month:{_MONTH_OF[word]}")
    return out


def _total(run: list[str]) -> str:
    """The number of a run such as `1.2 million` or `two hundred five`."""
    total = part = 0.0
    for word in run:
        value = _value(word)
        if value is not None:
            part += value
        elif word == "hundred":
            part *= 100
        else:
            total, part = total + part * _SCALES[word], 0.0
    return f"={total + part:.6f}".rstrip("0").rstrip(".")


def _value(word: str) -> float | None:
    if _NUMBER.fullmatch(word):
        return float(word.replace(",", ""))
    if "-" in word:  # twenty-one
        parts = [_UNITS.get(part) for part in word.split("-")]
        return float(sum(part for part in parts if part)) if all(part is not None for part in parts) else None
    return float(_UNITS[word]) if word in _UNITS else None


def _names(found: list[str]) -> list[str]:
    out = []
    for place, token in enumerate(found):
        follows = place + 1 < len(found) and found[place + 1][0].isupper()
        first = place == 0 and len(found) > 1
        if token[0].isupper() and (not first or follows) and token.lower().rstrip(".") not in _MONTH_OF:
            out += [part for part in _plain(token) if part not in _NO_NAMES and len(part) >= _LETTERS_OF_A_NAME]
    return [part for part in out if part not in _UNITS]


def _plain(token: str) -> list[str]:
    """The words of a token without case, accents, full stops and a possessive."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c)).casefold()
    bare = re.sub(r"['\u2019]s?$", "", bare.rstrip(".")).replace(".", "")
    return [part for part in re.split(r"['\u2019-]", bare) if part]
