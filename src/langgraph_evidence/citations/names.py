"""The names of a text: words with a capital, numerals and letters that tell two of one name apart."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from langgraph_evidence.citations.quantities import MONTHS, NUMBER_WORDS
from langgraph_evidence.text import STOP_WORDS

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['\u2019.-][^\W\d_]+)*\.?")
# Written with capitals and yet no name.
_NO_NAMES = STOP_WORDS | frozenset("yes no true false mr mrs ms dr according".split())
_ERAS = frozenset("bc bce ad ce".split())
_COUNTED = frozenset("century centuries millennium".split())
_LETTERS_OF_A_NAME = 2
_NUMERAL = re.compile(r"(?=[ivxlc])(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_HYPHENS = re.compile(r"['\u2019-]")


class Name(NamedTuple):
    """A word that begins with a capital and stands for a name.

    Attributes:
        parts: Its words, without case, accents and a possessive; with a numeral behind its name (`henry viii`).
        start: Where it starts in the text that was read.
        end: Where it ends.
    """

    parts: tuple[str, ...]
    start: int
    end: int


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    gap: str

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def follows(self) -> bool:
        """Whether nothing but a space stands before it."""
        return self.gap.isspace()


def names(text: str) -> list[Name]:
    """The names of a text, in order.

    The first word counts as one only where the next one, too, begins with a capital.
    """
    found = _words(text)
    named = (Name(_parts(found, place), word.start, word.end) for place, word in enumerate(found) if word.capital)
    return [name for name in named if name.parts]


def words_of(text: str) -> set[str]:
    """All words of a text as names have them, and each with the numeral or letter behind it."""
    found = _words(text)
    plain = [_plain(word.text) for word in found]
    told = {part for parts in plain for part in parts}
    for place in range(1, len(found)):
        if found[place].follows and plain[place - 1] and plain[place] and _tells_apart(plain[place][0]):
            told.add(f"{plain[place - 1][-1]} {plain[place][0]}")
    return told


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    end = 0
    for match in _TOKEN.finditer(text):
        found.append(_Word(match[0], match.start(), match.end(), text[end : match.start()]))
        end = match.end()
    return found


def _tells_apart(word: str) -> bool:
    return len(word) == 1 or _NUMERAL.fullmatch(word) is not None


def _parts(found: list[_Word], place: int) -> tuple[str, ...]:
    """What the word at a place says of a name; nothing where it is none."""
    numbered = _numbered(found, place)
    if numbered:
        return (numbered,)
    first = place == 0 and len(found) > 1
    if (first and not found[1].capital) or found[place].text.lower().rstrip(".") in MONTHS or _dates(found, place):
        return ()
    return tuple(part for part in _plain(found[place].text) if _names_one(part))


def _names_one(part: str) -> bool:
    return len(part) >= _LETTERS_OF_A_NAME and part not in _NO_NAMES and part not in NUMBER_WORDS


def _dates(found: list[_Word], place: int) -> bool:
    """Whether it is an era beside its number."""
    if found[place].text.replace(".", "").lower() not in _ERAS:
        return False
    beside = [found[near].text for near in (place - 1, place + 1) if 0 <= near < len(found)]
    return any(text[0].isdigit() or text in _COUNTED for text in beside)


def _numbered(found: list[_Word], place: int) -> str:
    """`henry viii`, `malcolm x`, `vitamin c`: a name with what tells it apart from others of that name."""
    word = _plain(found[place].text)
    if not place or not word or not found[place].follows or not _tells_apart(word[0]) or _is_initial(found, place):
        return ""
    bare = _POSSESSIVE.sub("", found[place].text.rstrip("."))
    named, last = found[place - 1], _plain(found[place - 1].text)
    if not bare.isupper() or not last or last[-1] in _NO_NAMES or not last[-1].isalpha():
        return ""
    return f"{last[-1]} {word[0]}" if named.capital or word[0] not in {"a", "i"} else ""


def _is_initial(found: list[_Word], place: int) -> bool:
    """Whether a letter stands for a name between two others: `George W. Bush`."""
    word, after = found[place], found[place + 1 : place + 2]
    if len(word.text.rstrip(".")) > 1 or not after:
        return False
    return after[0].follows and after[0].capital and not set(_plain(after[0].text)) & _NO_NAMES


@lru_cache(maxsize=16384)
def _plain(token: str) -> tuple[str, ...]:
    """The words of a token without case, accents, full stops and a possessive."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c)).casefold()
    bare = _POSSESSIVE.sub("", bare.rstrip(".")).replace(".", "")
    return tuple(part for part in _HYPHENS.split(bare) if part)
