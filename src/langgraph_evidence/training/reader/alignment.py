"""Where an answer stands in a passage: the characters, then the tokens, that the reader learns to point at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langgraph_evidence.models.reader import Window

_MONTHS = "January February March April May June July August September October November December".split()
_DAY_FIRST = re.compile(rf"^(\d{{1,2}}) ({'|'.join(_MONTHS)})(?:,? (\d{{3,4}}))?$")
_MONTH_FIRST = re.compile(rf"^({'|'.join(_MONTHS)}) (\d{{1,2}})(?:,? (\d{{3,4}}))?$")
_ARTICLE = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)
_EDGES = " \t\n\"'“”‘’.,;:"
# More places than these are accidents of a frequent word, not statements of the answer.
_MOST_PLACES = 8


def variants(answer: str) -> Iterator[str]:
    """Other ways in which the same answer may be written: without article or quotes, the date the other way round."""
    bare = answer.strip(_EDGES)
    yield bare
    yield _ARTICLE.sub("", bare)
    day, month = _DAY_FIRST.match(bare), _MONTH_FIRST.match(bare)
    if day:
        yield f"{day[2]} {day[1]}" + (f", {day[3]}" if day[3] else "")
    if month:
        yield f"{month[2]} {month[1]}" + (f" {month[3]}" if month[3] else "")


def places(answer: str, text: str) -> list[tuple[int, int]]:
    """The characters (start, end) where an answer, or failing that a variant of it, stands as whole words in a text."""
    for variant in variants(answer):
        if not variant:
            continue
        words = r"\W{1,3}".join(re.escape(word) for word in variant.split())
        found = [m.span() for m in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)]
        if found:
            return found[:_MOST_PLACES]
    return []


def align(
    window: Window, passages: Sequence[str], answers: Sequence[str], gold: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first and last tokens of every place of the first answer that stands in the window's gold passages.

    Returns:
        Token indexes of the starts and of the ends; both empty where no answer is in this window.
    """
    allowed = set(gold) or set(range(len(passages)))
    for answer in answers:
        marks = [(index, *span) for index in sorted(allowed) for span in places(answer, passages[index])]
        inside = [tokens for mark in marks if (tokens := _tokens(window, *mark)) is not None]
        if inside:
            return tuple(first for first, _ in inside), tuple(last for _, last in inside)
    return (), ()


def _tokens(window: Window, passage: int, begin: int, end: int) -> tuple[int, int] | None:
    first = last = None
    for token, (owner, (left, right)) in enumerate(zip(window.passages, window.tokens.offsets, strict=True)):
        if owner == passage and left < end and right > begin:
            first = token if first is None and left <= begin else first
            last = token if right >= end else last
            if first is None:
                return None
    return (first, last) if first is not None and last is not None else None
