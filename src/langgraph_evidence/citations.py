"""From an answer and its evidence to citations: which passages support it, and the words that do.

Citations are computed from the evidence that a run holds, never read from a model's text, so none can be invented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from langchain_core.messages import AIMessage
from langchain_core.messages.content import create_citation, create_text_block

from langgraph_evidence.text import Sentence, content_words, holds, split_sentences
from langgraph_evidence.types import Citation, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

# One shared word ("born", "film") is chance; two that no other quote has are a reason to cite.
_TELLING = 2


class _Candidate(NamedTuple):
    passage: Passage
    quote: Sentence
    words: set[str]
    names_answer: bool


def _best_quote(passage: Passage, claim: set[str], answer: str) -> _Candidate | None:
    """The sentence that shares most with the claim; one that names the answer goes before one that does not."""
    candidates = [
        _Candidate(passage, quote, content_words(f"{passage['title']} {quote.text}") & claim, holds(quote.text, answer))
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
