"""The sentences of the evidence that may be quoted, each with its place in its passage."""

from __future__ import annotations

from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.text import Sentence, split_sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langgraph_evidence.types import Passage

_LONGEST, _LONGEST_TITLE = 600, 200
# A run holds tens of passages. Of hostile millions the first sentences are enough, so that a check ends in time.
_MOST = 2000


class Quote(NamedTuple):
    """A sentence of a passage.

    Attributes:
        order: Its place among all sentences of the evidence.
        passage: Where it stands.
        start: Where it starts in the passage's text.
        end: Where it ends.
    """

    order: int
    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words of the source, letter for letter."""
        return self.passage["text"][self.start : self.end]

    @property
    def titled(self) -> str:
        """The quote as models read it: `Title: sentence`; of an endless title the beginning."""
        title = self.passage["title"][:_LONGEST_TITLE].strip()
        return f"{title}: {self.text}" if title else self.text


def quotes_of(evidence: Sequence[Passage]) -> list[Quote]:
    """Every sentence of the evidence that says something: one that only repeats its title proves nothing.

    A sentence that is longer than a quote should be (a table, a script without full stops) is cut between words. Of
    more sentences than can be checked in time every passage gives its first ones, so that a long one hides no other.
    """
    in_turn = chain.from_iterable(zip_longest(*map(_telling_parts, range(len(evidence)), evidence)))
    found = sorted(islice(filter(None, in_turn), _MOST))
    return [Quote(order, evidence[place], start, end) for order, (place, start, end) in enumerate(found)]


def _telling_parts(place: int, passage: Passage) -> Iterator[tuple[int, int, int]]:
    """The place of the passage and of each part in its text."""
    title = set(words(passage["title"]))
    for sentence in split_sentences(passage["text"]):
        if not set(words(sentence.text)) <= title:
            yield from ((place, part.start, part.end) for part in _parts(sentence))


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    text, start = sentence.text, sentence.start
    while len(text) > _LONGEST:
        cut = text.rfind(" ", _LONGEST // 2, _LONGEST)
        cut = _LONGEST if cut < 0 else cut
        yield Sentence(text[:cut], start, start + cut)
        rest = text[cut:].lstrip()
        start += len(text) - len(rest)
        text = rest
    if text:
        yield Sentence(text, start, start + len(text))


def premise(quotes: Sequence[Quote]) -> str:
    """Several quotes as one premise, in the order in which they stand in the evidence."""
    return " ".join(quote.titled for quote in sorted(quotes, key=lambda quote: quote.order))
