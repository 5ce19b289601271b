"""Which passages to read together when they do not all fit: those about the question, and those that they name."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from langgraph_evidence.text import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINK = 0.4
_LONG = 0.8


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP_WORDS]


def relevance_order(question: str, passages: Sequence[str]) -> list[int]:
    """The passages' indexes, most useful first: chosen one by one by shared rare words and by what the chosen name.

    A passage is worth the rarity of the question's words it holds, more for those of its title; once a passage is
    chosen, one whose title it names, or that names its title, gains a share of its worth (the next hop).
    """
    titles = [" ".join(_words(re.sub(r"\([^)]*\)", " ", passage.partition(": ")[0]))) for passage in passages]
    bodies = [f" {' '.join(_words(passage))} " for passage in passages]
    counts = Counter(word for body in bodies for word in set(body.split()))
    asked = {word: math.log(1 + len(passages) / (0.5 + counts[word])) for word in {*_words(question)}}
    whole = f" {' '.join(_words(question))} "
    worth = []
    for title, body in zip(titles, bodies, strict=True):
        held, named = set(body.split()), set(title.split())
        value = sum(rarity * (1.5 if word in named else 1.0) for word, rarity in asked.items() if word in held)
        worth.append(value / (1 + _LONG * len(held) / 100) + (3.0 if title and f" {title} " in whole else 0.0))
    chosen: list[int] = []
    while len(chosen) < len(passages):
        best = max((place for place in range(len(passages)) if place not in chosen), key=lambda place: worth[place])
        chosen.append(best)
        for place in range(len(passages)):
            if place not in chosen and _linked(best, place, titles, bodies):
                worth[place] += _LINK * worth[best]
    return chosen


def _linked(one: int, other: int, titles: Sequence[str], bodies: Sequence[str]) -> bool:
    return any(titles[a] and f" {titles[a]} " in bodies[b] for a, b in ((one, other), (other, one)))
