"""From an answer and its evidence to citations: which passages support it, and the words that do.

Citations are computed from the evidence that a run holds, never read from a model's text, so none can be invented.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from langchain_core.messages import AIMessage
from langchain_core.messages.content import create_citation, create_text_block

from langgraph_evidence.types import Citation, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*+\s++(?=[\"'“‘(\[]?[A-Z0-9])")
# Titles and initials end in a full stop that ends no sentence.
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|Inc|Ltd|Co|Gen|Col|Capt|Lt|Prof|c|ca)\.)$")
_LONGEST_ABBREVIATION = len("Capt.")
_STOP_WORDS = frozenset(
    "a an and are as at be been by did do does for from had has have he her him his how in is it its of on or she that "
    "the their them they this to was were what when where which who whom whose why will with".split()
)


# One shared word ("born", "film") is chance; two that no other quote has are a reason to cite.
_TELLING = 2
# A longer answer stands in no text by chance, and its ends need no look: that would take the product of both lengths.
_LONGEST_NAME = 200


class Quote(NamedTuple):
    """A sentence of a passage with its place in the passage's text."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> list[Quote]:
    """Splits a text into sentences with their offsets; every non-space character is in exactly one."""
    quotes: list[Quote] = []
    start = 0
    for boundary in _SENTENCE_END.finditer(text):
        near = max(start, boundary.start() - _LONGEST_ABBREVIATION)
        if _ABBREVIATION.search(text, near, boundary.start()):
            continue
        quotes.append(_trimmed(text, start, boundary.end()))
        start = boundary.end()
    quotes.append(_trimmed(text, start, len(text)))
    return [quote for quote in quotes if quote.text]


def _trimmed(text: str, start: int, end: int) -> Quote:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    return Quote(body.strip(), start + left, start + left + len(body.strip()))


def content_words(text: str) -> set[str]:
    """The words of a text that carry content: lower case, without function words."""
    return {word for word in re.findall(r"\w+", text.lower()) if word not in _STOP_WORDS}


def _contains(text: str, answer: str) -> bool:
    text, answer = text.lower(), answer.lower()
    if not answer.strip() or answer not in text:
        return False
    return len(answer) > _LONGEST_NAME or re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


class _Candidate(NamedTuple):
    passage: Passage
    quote: Quote
    words: set[str]
    names_answer: bool


def _best_quote(passage: Passage, claim: set[str], answer: str) -> _Candidate | None:
    """The sentence that shares most with the claim; one that names the answer goes before one that does not."""
    candidates = [
        _Candidate(
            passage, quote, content_words(f"{passage['title']} {quote.text}") & claim, _contains(quote.text, answer)
        )
        for quote in split_sentences(passage["text"])
    ]
    return max(candidates, key=lambda found: (found.names_answer, len(found.words)), default=None)


def cite(question: str, answer: str, evidence: Sequence[Passage]) -> list[Citation]:
    """Cites the smallest set of passages that covers what the evidence covers of the question and its answer.

    Greedy: first the passage whose best sentence names the answer and shares most words with question and answer, then
    each further passage that adds words that no cited one has (one word alone is chance). A citation's score is the
    share of the content words of question and answer that its quote and title hold.

    Args:
        question: The question that was asked.
        answer: The answer as it is given; a citation's span is the whole of it.
        evidence: The passages that the run holds.

    Returns:
        The citations, best first; none for an empty answer or when no passage shares a word with it.
    """
    claim = content_words(f"{question} {answer}")
    if not answer.strip() or not claim:
        return []
    open_candidates = [found for passage in evidence if (found := _best_quote(passage, claim, answer)) is not None]
    covered: set[str] = set()
    citations: list[Citation] = []
    while open_candidates:
        best = max(
            open_candidates, key=lambda found: (found.names_answer and not citations, len(found.words - covered))
        )
        added = best.words - covered
        if not added or (len(added) < _TELLING and not best.names_answer):
            break
        open_candidates.remove(best)
        covered |= best.words
        citations.append(_citation(best, answer, len(best.words) / len(claim)))
    return citations


def _citation(found: _Candidate, answer: str, score: float) -> Citation:
    return Citation(
        start=0,
        end=len(answer),
        passage_id=found.passage["id"],
        title=found.passage["title"],
        quote=found.quote.text,
        quote_start=found.quote.start,
        quote_end=found.quote.end,
        score=score,
    )


def cited_message(answer: str, citations: Sequence[Citation], *, name: str) -> AIMessage:
    """One message whose text block carries the citations as LangChain annotations.

    The annotation's `start_index` and `end_index` index the answer; the span in the source, the passage's id and the
    support score are in its `extras`.
    """
    annotations = [
        create_citation(
            title=citation["title"],
            cited_text=citation["quote"],
            start_index=citation["start"],
            end_index=citation["end"],
            passage_id=citation["passage_id"],
            quote_start=citation["quote_start"],
            quote_end=citation["quote_end"],
            score=citation["score"],
        )
        for citation in citations
    ]
    return AIMessage(content_blocks=[create_text_block(answer, annotations=list(annotations))], name=name)
