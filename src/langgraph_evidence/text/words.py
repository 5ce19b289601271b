"""Words of a text, of any script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"\w+")
# Scripts whose words are not set apart: Thai, Lao, Burmese, Khmer, Japanese, Chinese; Korean, for its words take
# endings that no stemmer here knows. Their characters are cut in pairs, as Lucene's CJK analyser does.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")
# Any letter or mark that is not Latin; without one, the plain expression reads the same at a tenth of the time.
_BEYOND_LATIN = re.compile("[\u0300-\u1fff\u20d0-\u20ff\u2c00-\U0010ffff]")
# Where the combining marks are; those beyond only choose among a character's shapes.
_MARKS = range(0x300, 0x1E950)
# A longer part stands in no text by chance, and its ends need no look: that would take the product of both lengths.
_LONGEST_NAME = 200


class Token(NamedTuple):
    """A token as it is written, and its place in the text."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order: runs of letters and digits, wherever the script has spaces."""
    return _WORD.findall(text.lower())


def terms(text: str) -> list[str]:
    """The words of a text of any script, widths and cases folded; of a script without spaces the pairs of characters.

    A run of one such character is a term by itself. Accents and vowel signs stay with the letter that they stand on.
    """
    # A capital dotted I folds to an i with a dot of its own, which nobody types.
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    if not _BEYOND_LATIN.search(folded):
        return _WORD.findall(folded)
    return [term for run in _marked().word.findall(folded) for term in _cut(run)]


def _cut(run: str) -> list[str]:
    if run.isascii():
        return [run]
    found: list[str] = []
    for number, part in enumerate(_UNSPACED_RUN.split(run)):
        if number % 2 and len(part) > 1:
            found += [first + second for first, second in pairwise(part)]
        elif part:
            found.append(part)
    return found


def tokens(text: str) -> list[Token]:
    """What stands between spaces, and every character of a script without them, with its vowel signs."""
    return [Token(found[0], found.start(), found.end()) for found in _marked().token.finditer(text)]


def holds(text: str, part: str) -> bool:
    """Whether a text holds a part in these very words, case aside; a script without spaces has no word ends to heed."""
    part = part.strip()
    if not part or len(part) > 2 * len(text):  # twice, for a capital may have two small letters
        return False
    text, part = text.lower(), part.lower()
    if part not in text or len(part) > _LONGEST_NAME:
        return part in text
    before = "" if _UNSPACED_RUN.match(part[0]) else r"(?<!\w)"
    after = "" if _UNSPACED_RUN.match(part[-1]) else r"(?!\w)"
    return re.search(before + re.escape(part) + after, text) is not None


def storable(text: str) -> str:
    """The text without half surrogate pairs, which neither a checkpoint nor a request can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    token: re.Pattern[str]


@lru_cache(maxsize=1)
def _marked() -> _Patterns:
    """The expressions that need every combining mark, which `re` has no class for; made when they are first asked for.

    To a plain word class a vowel sign ends a word, in Hindi and Thai after every other letter.
    """
    marks = "".join(c for c in map(chr, _MARKS) if unicodedata.category(c) in {"Mn", "Mc"})
    return _Patterns(word=re.compile(f"[\\w{marks}]+"), token=re.compile(f"[{_UNSPACED}][{marks}]*|[^\\s{_UNSPACED}]+"))
