"""What the evidence of a prompt says about a question: which of its words are met, which new names could lead on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.questions import Mention, ParsedQuestion, entities
from langgraph_evidence.llm.offline.words import RELATED, content_words, stem, stems, words
from langgraph_evidence.text import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_NAMES = frozenset(
    (
        "january february march april may june july august september october november december the he she it in his "
        "her this they a an as its on at after during monday tuesday wednesday thursday friday saturday sunday"
    ).split()
)
_DESCRIBES = re.compile(r"\s+(?!(?:is|was|and|in|of|by|for|on|to|with|at|from|as|or)\b)[a-z]")
_LED = re.compile(r"\b(?:by|with|from|to|of|in|at)\s+(?:the\s+)?$")
_PERSON = re.compile(r"(?:[A-Z][\w.'\u2019-]+\s+){1,3}[A-Z][\w'\u2019-]+$")
_PEOPLE = re.compile(r"[\w.]+(?:ian|ean|ican|ese|ish)|French|German|Dutch|Greek|Indian|Italian|Roman|U\.S")
_NEAR = 60
_LONGEST_TITLE = 100


@dataclass(frozen=True)
class Bridge:
    """A name in the evidence that the question does not hold.

    Args:
        name: The name.
        passage: The index of its passage.
        sentence: The sentence around it.
        features: What speaks for or against it, by name.
    """

    name: str
    passage: int
    sentence: str
    features: dict[str, float]


@lru_cache(maxsize=4096)
def title_of(line: str) -> str:
    """The title of an evidence line, or the name it opens with."""
    head, separator, _ = line.partition(": ")
    if separator and len(head) <= _LONGEST_TITLE:
        return head
    spans = entities(line[:200])
    return spans[0].text if spans else ""


@lru_cache(maxsize=4096)
def sentences(line: str) -> tuple[str, ...]:
    """The sentences of a line."""
    return tuple(quote.text for quote in split_sentences(line))


def bare(title: str) -> str:
    """A title without the parenthesis that tells it from its namesakes."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


def met(name: str, evidence: tuple[str, ...]) -> bool:
    """Whether a passage is about this name: its title and the name share all words of the shorter."""
    wanted = stems(bare(name)) or frozenset(words(name))
    for line in evidence:
        title = stems(bare(title_of(line))) or frozenset(words(title_of(line)))
        if title and wanted and (title <= wanted or wanted <= title):
            return True
    return False


def residual(question: ParsedQuestion, evidence: tuple[str, ...]) -> list[str]:
    """The question's words of meaning that no evidence holds, in order."""
    known = frozenset(stem(word) for line in evidence for word in words(line))
    return [word for word in dict.fromkeys(content_words(question.text)) if stem(word) not in known]


@dataclass(frozen=True)
class _Asked:
    """The stems of a question: all of them, those outside its names, those beside a name that the evidence meets."""

    every: frozenset[str]
    relation: frozenset[str]
    inner: frozenset[str]


def _asked(question: ParsedQuestion, evidence: tuple[str, ...]) -> _Asked:
    named = frozenset().union(*(stems(name) for name in question.names))
    inner: set[str] = set()
    for name in question.names:
        if met(name, evidence):
            before, _, after = question.text.partition(name)
            inner.update(stem(word) for word in [*content_words(before)[-2:], *content_words(after)[:2]])
    return _Asked(stems(question.text), _widened(stems(question.text) - named), _widened(inner - named))


def _widened(relation: frozenset[str] | set[str]) -> frozenset[str]:
    return frozenset(relation).union(*(group for group in RELATED if group & relation))


def bridges(question: ParsedQuestion, evidence: tuple[str, ...]) -> list[Bridge]:
    """The names of the evidence that are new to the question and that no passage of the evidence is about."""
    asked = _asked(question, evidence)
    titles = [bare(title_of(line)).casefold() for line in evidence]
    found: dict[str, Bridge] = {}
    for index, line in enumerate(evidence):
        for bridge in _names(line, index, asked=asked):
            old = found.get(bridge.name)
            if any(title.startswith(bridge.name.casefold()) for title in titles):
                continue
            if old is None or old.features["relation"] < bridge.features["relation"]:
                found[bridge.name] = bridge
            if old is not None and old.passage != index:
                found[bridge.name].features["repeated"] = 1.0
    for bridge in found.values():
        bridge.features["newest"] = float(bridge.passage == len(evidence) - 1)
    return list(found.values())


def _names(line: str, index: int, *, asked: _Asked) -> Iterator[Bridge]:
    title = title_of(line)
    about = float(bool(stems(bare(title))) and stems(bare(title)) <= asked.every)
    position = 0
    for number, sentence in enumerate(sentences(line.removeprefix(title + ": "))):
        for span in entities(sentence, bracketed=False):
            if not _leads_on(span.text, asked.every):
                continue
            position += 1
            features = _context(sentence, span, asked=asked)
            features |= {"about": about, "early": 1 / position, "opens": float(number == 0 and span.start == 0)}
            yield Bridge(span.text, index, sentence, features)


def _context(sentence: str, span: Mention, *, asked: _Asked) -> dict[str, float]:
    before, after = sentence[max(span.start - _NEAR, 0) : span.start], sentence[span.end : span.end + _NEAR]
    parts = span.text.split()
    return {
        "relation": _closeness(before, after, asked.relation),
        "inner": _closeness(before, after, asked.inner),
        "near": min(len(stems(before + " " + after) & asked.every), 4) / 4,
        "several_words": float(len(parts) > 1),
        "long": float(len(parts) > 4),
        "digits": float(any(character.isdigit() for character in span.text)),
        "adjective": float(len(parts) == 1 and bool(_DESCRIBES.match(after))),
        "quoted": float(before.endswith('"') or sentence[span.start] == '"'),
        "led": float(bool(_LED.search(before))),
        "by": float(bool(re.search(r"\bby\s+$", before))),
        "is": float(bool(re.search(r"\b(is|was|are|were)\s+(a|an|the)\s+(\w+\s+)?$", before))),
        "person": float(bool(_PERSON.match(span.text))),
        "people": float(bool(_PEOPLE.fullmatch(span.text))),
    }


def _closeness(before: str, after: str, wanted: frozenset[str]) -> float:
    """One over the distance in words to the nearest wanted one, 0 when there is none around."""
    gaps = [place for place, word in enumerate(reversed(words(before)), 1) if stem(word) in wanted]
    gaps += [place for place, word in enumerate(words(after), 1) if stem(word) in wanted]
    return 1 / min(gaps) if gaps else 0.0


def _leads_on(name: str, asked: frozenset[str]) -> bool:
    own = stems(name)
    said = words(name)
    return bool(own) and not own <= asked and said[0] not in _NO_NAMES and not all(map(_dates, said))


def _dates(word: str) -> bool:
    return word in _NO_NAMES or not word.isalpha()
