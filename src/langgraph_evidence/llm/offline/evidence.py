"""What the evidence of a prompt says about a question: which of its words are met, which new names could lead on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.questions import Question, Span, entities
from langgraph_evidence.llm.offline.words import content_words, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterator

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"\u201c(]?[A-Z0-9])")
_MONTHS = frozenset(
    "january february march april may june july august september october november december the he she it in his her "
    "this they a an as its on at after during".split()
)
_NEAR = 60


@dataclass(frozen=True)
class Bridge:
    """A name in the evidence that the question does not hold.

    Args:
        name: The name.
        passage: The index of its passage.
        sentence: The sentence around it.
        near: How many of the question's words stand close to it.
        position: Its place among the names of its passage.
    """

    name: str
    passage: int
    sentence: str
    near: int
    position: int


def title_of(line: str) -> str:
    """The title of an evidence line, or the name it opens with."""
    head, separator, _ = line.partition(": ")
    if separator and len(head) <= 100:
        return head
    spans = entities(line[:200])
    return spans[0].text if spans else ""


def sentences(line: str) -> list[str]:
    """The sentences of a line, cut at a full stop before a capital."""
    return _SENTENCE.split(line)


def met(name: str, evidence: tuple[str, ...]) -> bool:
    """Whether a passage is about this name: its title and the name share all words of the shorter."""
    wanted = stems(name)
    for line in evidence:
        title = stems(re.sub(r"\s*\([^)]*\)$", "", title_of(line)))
        if title and wanted and (title <= wanted or wanted <= title):
            return True
    return False


def residual(question: Question, evidence: tuple[str, ...]) -> list[str]:
    """The question's words of meaning that no evidence holds, in order."""
    known = frozenset(stem(word) for line in evidence for word in words(line))
    return [word for word in dict.fromkeys(content_words(question.text)) if stem(word) not in known]


def bridges(question: Question, evidence: tuple[str, ...]) -> list[Bridge]:
    """The names of the evidence that are new to the question and title no passage of the evidence."""
    asked = stems(question.text)
    titles = {title_of(line).casefold() for line in evidence}
    found: dict[str, Bridge] = {}
    for index, line in enumerate(evidence):
        for bridge in _names(line, index, asked):
            old = found.get(bridge.name)
            if bridge.name.casefold() not in titles and (old is None or old.near < bridge.near):
                found[bridge.name] = bridge
    return list(found.values())


def _names(line: str, index: int, asked: frozenset[str]) -> Iterator[Bridge]:
    text = line.removeprefix(title_of(line) + ": ")
    position = 0
    for sentence in sentences(text):
        for span in entities(sentence):
            if _leads_on(span.text, asked):
                position += 1
                yield Bridge(span.text, index, sentence, _near(sentence, span, asked), position)


def _leads_on(name: str, asked: frozenset[str]) -> bool:
    own = stems(name)
    first = name.split()[0].lower()
    return bool(own) and not own <= asked and first not in _MONTHS and any(c.isalpha() for c in name)


def _near(sentence: str, span: Span, asked: frozenset[str]) -> int:
    window = sentence[max(span.start - _NEAR, 0) : span.start] + " " + sentence[span.end : span.end + _NEAR]
    return len(stems(window) & asked)
