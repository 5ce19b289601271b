"""Queries that a data set implies: its decompositions with the answers filled in, and parts of its questions.

Nothing here is asked of a model: each query is made of words of the question, of a title and of hops' answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.text import STOP_WORDS, words
from langgraph_evidence.text.languages import singular

if TYPE_CHECKING:
    from collections.abc import Sequence

_REFERENCE = re.compile(r"#(\d+)")
_EDGES = "?,.;:!\"'()“”‘’"
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
# Words of a comparison that stand in no passage.
_COMPARING = frozenset(
    "both same either neither more most less least older oldest younger youngest first earlier earliest later latest "
    "larger largest bigger longer longest higher highest common two between other others".split()
)
_LEAST_WORDS = 2


def filled(text: str, answers: Sequence[str]) -> str:
    """A sub-question with `#1`, `#2` replaced by the answers before it, and the arrow of a relation by a space."""

    def answer(found: re.Match[str]) -> str:
        number = int(found[1])
        return answers[number - 1] if 0 < number <= len(answers) else ""

    text = _REFERENCE.sub(answer, text.replace(">>", " ")).removeprefix("return ")
    return re.sub(r"\s+([?,.])", r"\1", " ".join(text.split()))


def references(text: str) -> frozenset[int]:
    """The numbers of the hops that a sub-question refers to."""
    return frozenset(map(int, _REFERENCE.findall(text)))


def name_of(title: str) -> str:
    """A title without what tells it from its namesakes: `Alien Autopsy (film)` is `Alien Autopsy`."""
    return _QUALIFIER.sub("", title).strip() or title


def part_about(question: str, text: str) -> str:
    """The words of a question that a text has too, in their order, with the small words between them.

    Empty where fewer than two carry meaning, or none of them is a name or a number: that would find anything.
    """
    known = _terms(text)
    kept = [word for word in question.split() if _term(word) in known or _is_small(word)]
    while kept and _is_small(kept[0]):
        kept.pop(0)
    while kept and _is_small(kept[-1]):
        kept.pop()
    telling = [word.strip(_EDGES) for word in kept if not _is_small(word)]
    named = any(word[:1].isupper() or word[:1].isdigit() for word in telling)
    return " ".join(word.strip(_EDGES) for word in kept) if named and len(telling) >= _LEAST_WORDS else ""


def rest_of(question: str, *used: str) -> str:
    """The words of a question that carry meaning, compare nothing and stand in none of the texts, in their order."""
    gone = _terms(" ".join(used)) | _COMPARING
    left = [word.strip(_EDGES) for word in question.split() if not _is_small(word) and _term(word) not in gone]
    return " ".join(word for word in left if word)


def carrying(question: str) -> str:
    """The words of a question that carry meaning, in their order: how it is typed into a search engine."""
    return " ".join(word.strip(_EDGES) for word in question.split() if not _is_small(word))


def names_only(query: str, known: str) -> bool:
    """Whether all names and numbers of a query stand in a text that whoever asks has read."""
    seen = _terms(known)
    parts = [part for word in query.split() for part in re.findall(r"\w+", word) if part[0].isupper() or part.isdigit()]
    return all(singular(part.lower()) in seen or part.lower() in STOP_WORDS for part in parts)


def _terms(text: str) -> set[str]:
    return {singular(word) for word in words(text)}


def _term(word: str) -> str:
    found = words(word)
    return singular(found[0]) if found else ""


def _is_small(word: str) -> bool:
    found = words(word)
    return not found or found[0] in STOP_WORDS
