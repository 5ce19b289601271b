"""Sentences of a text, with their places."""

from __future__ import annotations

import re
from typing import NamedTuple

_CLOSING = "\"'”’“‘»›)\\]"
_CLOSING_WIDE = "」』）】》〉”’"
_WIDE_STOP = "。！？｡"
# A stop, spaces and a word that begins as sentences do; or a stop of a script without spaces. A quotation that goes on
# with "to" ("...", he said) ends none. Possessive, so that no run of spaces or marks is read twice.
_END = re.compile(
    rf"(?<=[.!?؟۔।॥։።။។])[{_CLOSING}]*+\s++(?=[\"'“‘„«‹(\[¿¡]?+(\w))"
    rf"|(?<=[{_WIDE_STOP}])(?![{_WIDE_STOP}])(?:[{_CLOSING_WIDE}]++(?![とっ]))?+\s*+(?=[^\s{_CLOSING_WIDE}])"
)
# Titles and initials end in a full stop that ends no sentence.
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|Inc|Ltd|Co|Gen|Col|Capt|Lt|Prof|c|ca)\.)$"
)
_LONGEST_ABBREVIATION = len("Capt.")


class Sentence(NamedTuple):
    """A sentence and its place in the text it was cut from."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> list[Sentence]:
    """Splits a text into sentences with their offsets; every non-space character is in exactly one.

    It knows the full stops of many scripts; a text of a script that has none (Thai) is one sentence.
    """
    found: list[Sentence] = []
    start = 0
    for boundary in _END.finditer(text):
        if _goes_on(boundary[1]) or _abbreviates(text, start, boundary.start()):
            continue
        found.append(_trimmed(text, start, boundary.end()))
        start = boundary.end()
    found.append(_trimmed(text, start, len(text)))
    return [sentence for sentence in found if sentence.text]


def _goes_on(letter: str | None) -> bool:
    """Whether a sentence goes on with this letter; one of a script without capitals begins a new one."""
    return letter is not None and (letter.islower() or letter == "_")


def _abbreviates(text: str, start: int, stop: int) -> bool:
    return _ABBREVIATION.search(text, max(start, stop - _LONGEST_ABBREVIATION), stop) is not None


def _trimmed(text: str, start: int, end: int) -> Sentence:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    return Sentence(body.strip(), start + left, start + left + len(body.strip()))
