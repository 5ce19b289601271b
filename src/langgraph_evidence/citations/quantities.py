"""The numbers and months of a text, each in one form, whether in digits or in English words.

A number in words is read by its grammar: `two hundred and five` is one, `1990 two` and `one, two` are two each.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NTH = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENTH = [f"{word[:-1]}ieth" for word in _TENS]
_TEN, _HUNDRED = 10, 100
_THOUSANDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALES = {"hundred": _HUNDRED, **_THOUSANDS}
_SCALES_TH = {f"{word}th": value for word, value in _SCALES.items()}
_UNITS = {word: value for value, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_ORDINALS = {word: value for value, word in enumerate(_NTH)} | {word: 10 * n for n, word in enumerate(_TENTH, 2)}
_ONE_BY_ONE = {**_UNITS, **_ORDINALS}
_SOME = {word + plural: word for word in _SCALES for plural in ("", "s")}

NUMBER_WORDS = frozenset([*_ONE_BY_ONE, *_SOME, *_SCALES_TH])
"""The words that numbers are made of, in lower case."""

_MONTH_NAMES = (
    "january february march april may june july august september october november december"
).split()  # fmt: skip
MONTHS = {name[:3]: place for place, name in enumerate(_MONTH_NAMES, 1)} | {"sept": 9}
MONTHS |= {name: place for place, name in enumerate(_MONTH_NAMES, 1)}
"""The number of each month by its name and its abbreviations, in lower case."""

# A comma or a space joins groups of three digits alone; what follows may be an exponent or a fraction.
_TOKEN = re.compile(
    r"(?P<figure>(?:\d{1,3}(?:(?:,\d{3})+|(?:[ \u00a0\u2009\u202f]\d{3})+)(?!\d)|\d+)(?:\.\d+)?|(?<![\w.)])\.\d+)"
    r"(?:(?P<power>[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)|[ \u00a0]?(?P<part>[\u00bc-\u00be\u2150-\u215e])"
    r"|[ -](?P<over>[1-9])[/\u2044](?P<under>[2-9])(?![\d/\u2044]))?"
    r"|(?P<fraction>[\u00bc-\u00be\u2150-\u215e])|(?P<word>[^\W\d_\u00bc-\u00be\u2150-\u215e]+)"
)
_SPACING = re.compile(r"[ \u00a0\u2009\u202f]")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
# Nothing stands between a number and its era but a century, or the number at the other end of a range.
_ERA = re.compile(
    r"(?:st|nd|rd|th)?(?:\s{0,2}(?:[\u2010-\u2014/-]|to|and|or|until)\s{0,2}\d{1,5}(?:st|nd|rd|th)?)?"
    r"(?:[\s-]{1,2}(?:century|centuries|millennium))?\s{0,2}B\.?\s?C(?:\.?E)?\b",
    re.IGNORECASE,
)
_MINUS = ("-", "\u2212")
_CURRENCIES = "$\u00a3\u20ac"
# Longer numbers are compared by their digits: to read them exactly takes more than linear time.
_LONGEST = 1000
_LINE_END = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# After these, "second" is a time.
_TIMES = frozenset("a an one per each every split".split())


_Exact = int | Fraction


class Quantity(NamedTuple):
    """A number, or a month that is written as a name.

    Attributes:
        fact: `=1200` or `month:5`, with the era if it is before Christ (`=44bc`).
        start: Where it starts in the text that was read.
        end: Where it ends.
    """

    fact: str
    start: int
    end: int


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    value: str | _Exact | None = None
    gap: str = ""  # what stands between it and the token before

    @property
    def word(self) -> str:
        return self.text.lower() if self.value is None else ""


class _Run(NamedTuple):
    """A number that starts at one token and ends before another."""

    value: _Exact
    end: int
    ordinal: bool = False


def quantities(text: str) -> list[Quantity]:
    """The numbers and months of a text, in order.

    `some thousand` stands for a scale that counts nothing (`thousands of people`).
    """
    return list(_read(text, _tokens(text)))


def spelt_out(text: str) -> str:
    """A text whose dates are words where they were `2001-05-05`."""
    return _ISO.sub(_date, text)


def _date(date: re.Match[str]) -> str:
    month = int(date[2])
    named = 1 <= month <= len(_MONTH_NAMES)
    return f"{int(date[3])} {_MONTH_NAMES[month - 1].title()} {date[1]}" if named else date[0]


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        found.append(_Token(match[0], match.start(), match.end(), _value(match), text[end : match.start()]))
        end = match.end()
    return found


def _value(match: re.Match[str]) -> str | _Exact | None:
    """What a token in digits is worth: exactly, or in a form of its own where that cannot be said in short."""
    if match["word"]:
        return None
    if match["fraction"]:
        return _vulgar(match["fraction"])
    digits = _SPACING.sub("", match["figure"].replace(",", ""))
    if len(digits) > _LONGEST:
        return f"{digits.lstrip('0')}{match[0][len(match['figure']) :]}"
    value = int(digits) if digits.isdecimal() else Fraction(digits)
    if match["power"]:
        return f"{value}^{match['power']}"
    if match["part"]:
        return value + _vulgar(match["part"])
    return value + Fraction(int(match["over"]), int(match["under"])) if match["over"] else value


@cache
def _vulgar(character: str) -> Fraction:
    over, _, under = unicodedata.normalize("NFKC", character).partition("\u2044")
    return Fraction(int(over), int(under))


def _read(text: str, tokens: list[_Token]) -> Iterator[Quantity]:
    place = 0
    while place < len(tokens):
        token = tokens[place]
        run = _run(tokens, place)
        if run is not None or isinstance(token.value, str):
            value, end = (str(run.value), run.end) if run else (str(token.value), place + 1)
            stop = tokens[end - 1].end
            yield Quantity(f"={_sign(text, tokens, place)}{value}{_era(text, stop)}", token.start, stop)
            place = end
            continue
        if token.word in _SOME:
            yield Quantity(f"=some {_SOME[token.word]}", token.start, token.end)
        elif token.word in MONTHS and token.text[0].isupper():
            yield Quantity(f"month:{MONTHS[token.word]}", token.start, token.end)
        place += 1


def _sign(text: str, tokens: list[_Token], place: int) -> str:
    """A minus, unless it stands between two figures or after a letter."""
    token, last = tokens[place], tokens[place - 1] if place else None
    if last and last.word == "minus" and token.gap.isspace():
        return "-"
    if token.value is None or (last and last.value is not None and token.gap.strip() in _MINUS):
        return ""
    before = text[max(token.start - 3, 0) : token.start].rstrip(_CURRENCIES)
    return "-" if before.endswith(_MINUS) and not before[-2:-1].isalnum() else ""


def _era(text: str, end: int) -> str:
    return "bc" if _ERA.match(text, end) else ""


def _run(tokens: list[_Token], place: int) -> _Run | None:
    """The longest number that starts at a token: groups below a thousand, each with a smaller scale than the last."""
    if tokens[place].value is not None:
        return _figure(tokens, place)
    total: _Exact = 0
    bound, end, ordinal = 0, place, False
    while not ordinal:
        start = end if end == place else _after(tokens, end)
        group = _group(tokens, start, bound)
        if group is None:
            break
        scale = _scale(tokens, group)
        if bound and scale >= bound:
            break
        total, bound = total + group.value * scale, scale
        end, ordinal = group.end + (scale > 1), group.ordinal or scale == 1
    return _Run(total, end) if end > place else None


def _figure(tokens: list[_Token], place: int) -> _Run | None:
    """A figure, joined with the scales that follow: `1.2 million`, `5 hundred thousand`."""
    value = tokens[place].value
    if value is None or isinstance(value, str):
        return None
    run = _Run(value, place + 1)
    if run.end == len(tokens) or tokens[run.end].word not in _SCALES:
        return run
    if _joined(tokens, run.end, "hundred"):
        run = _Run(value * _HUNDRED, place + 2)
    scale = _scale(tokens, run)
    return _Run(run.value * scale, run.end + (scale > 1))


def _scale(tokens: list[_Token], run: _Run) -> int:
    """The scale that follows a number, else 1."""
    if run.ordinal or not _joined(tokens, run.end, *_THOUSANDS):
        return 1
    return _THOUSANDS[tokens[run.end].word]


def _after(tokens: list[_Token], place: int) -> int:
    """The place itself, or the one behind an `and` that stands there."""
    return place + 1 if _joined(tokens, place, "and") else place


def _group(tokens: list[_Token], place: int, bound: int) -> _Run | None:
    """A number below a thousand: `two hundred and five`; the first one also `a` or `half a` before a scale."""
    if bound and not _spaced(tokens, place):
        return None
    small = _small(tokens, place) or (None if bound else _article(tokens, place))
    if small is None or small.ordinal or small.value >= _HUNDRED:
        return small
    if _joined(tokens, small.end, "hundredth"):
        return _Run(small.value * _HUNDRED, small.end + 1, ordinal=True)
    if not _joined(tokens, small.end, "hundred"):
        return small
    hundreds = _Run(small.value * _HUNDRED, small.end + 1)
    start = _after(tokens, hundreds.end)
    rest = _small(tokens, start) if _spaced(tokens, start) else None
    if rest is None or _joined(tokens, rest.end, "hundred"):
        return hundreds
    return rest._replace(value=hundreds.value + rest.value)


def _small(tokens: list[_Token], place: int) -> _Run | None:
    """A number below a hundred: `five`, `twenty one`, `twenty-first`."""
    word = tokens[place].word if place < len(tokens) else ""
    if word not in _ONE_BY_ONE or (word == "second" and _is_time(tokens, place)):
        return None
    run = _Run(_ONE_BY_ONE[word], place + 1, word in _ORDINALS)
    if word not in _TENS or place + 1 == len(tokens):
        return run
    after = tokens[place + 1]
    unit = _ONE_BY_ONE.get(after.word, 0)
    goes_on = after.gap == "-" or (_spaced(tokens, place + 1) and after.word != "second")
    if not 0 < unit < _TEN or not goes_on:
        return run
    return _Run(run.value + unit, place + 2, after.word in _ORDINALS)


def _is_time(tokens: list[_Token], place: int) -> bool:
    """Whether a `second` is one of a minute: after a number or an article, where no title has a capital."""
    if not place or tokens[place].text[0].isupper() or not (_spaced(tokens, place) or tokens[place].gap == "-"):
        return False
    last = tokens[place - 1]
    return last.value is not None or last.word in _TIMES or last.word in NUMBER_WORDS


def _article(tokens: list[_Token], place: int) -> _Run | None:
    """The one of `a million`, the half of `half a million`, and `hundredth`, which counts by itself."""
    word = tokens[place].word if place < len(tokens) else ""
    if word in _SCALES_TH:
        return _Run(_SCALES_TH[word], place + 1, ordinal=True)
    end = place + 1 + (word == "half" and _joined(tokens, place + 1, "a"))
    if word not in {"a", "half"} or not _joined(tokens, end, *_SCALES):
        return None
    return _Run(1 if word == "a" else Fraction(1, 2), end)


def _joined(tokens: list[_Token], place: int, *words: str) -> bool:
    """Whether one of these words goes on with the one before it."""
    if place >= len(tokens) or tokens[place].word not in words:
        return False
    return tokens[place].gap == "-" or _spaced(tokens, place)


def _spaced(tokens: list[_Token], place: int) -> bool:
    """Whether nothing but a space, and no end of a line, stands before a word."""
    return place < len(tokens) and tokens[place].gap.isspace() and not _LINE_END.search(tokens[place].gap)
