"""What a check of an answer against its evidence gives, and how it becomes a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from langchain_core.messages import AIMessage
from langchain_core.messages.content import create_citation, create_text_block

from langgraph_evidence.types import Citation, Conflict, Passage, SentenceSupport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.citations.quotes import Quote
    from langgraph_evidence.citations.statements import Statement

CitedBy = Literal["verified", "lexical"]
"""What chose the quotes: a model that reads whether they entail the answer, or shared words alone."""


class Checked(NamedTuple):
    """An answer against its evidence; all parts are plain data.

    Attributes:
        citations: The quotes, sentence by sentence of the answer.
        sentences: Every sentence of the answer with its support.
        support: That of the whole answer: of its least supported sentence; 0 without evidence.
        conflicts: Passages that contradict a sentence which others support.
        cited_by: What the support is: verified by a model, or counted in words.
        failed: Why it could not be checked, where that is so.
    """

    citations: list[Citation]
    sentences: list[SentenceSupport]
    support: float
    conflicts: list[Conflict]
    cited_by: CitedBy
    failed: str = ""


class AnswerVerifier(Protocol):
    """Whatever checks answers; `Verifier` and `LexicalVerifier` are the ones of this package."""

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """Finds the quotes that support each sentence of an answer, and how far they do.

        Args:
            question: What was asked, or the claim that was checked.
            answer: The answer as it is given.
            evidence: The passages that the run holds.
        """
        ...


def citation_of(statement: Statement, quote: Quote, support: float) -> Citation:
    """A quote as the citation of a sentence of the answer."""
    return Citation(
        start=statement.start,
        end=statement.end,
        passage_id=quote.passage["id"],
        title=quote.passage["title"],
        quote=quote.text,
        quote_start=quote.start,
        quote_end=quote.end,
        support=support,
    )


def least(sentences: Sequence[SentenceSupport]) -> float:
    """The support of a whole answer: that of its least supported sentence, 0 for none."""
    return min((sentence["support"] for sentence in sentences), default=0.0)


def cited_message(answer: str, citations: Sequence[Citation], *, name: str) -> AIMessage:
    """One message whose text block carries the citations as LangChain annotations.

    The annotation's `start_index` and `end_index` index the answer; the span in the source, the passage's id and the
    support are in its `extras`.
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
            support=citation["support"],
        )
        for citation in citations
    ]
    return AIMessage(content_blocks=[create_text_block(answer, annotations=list(annotations))], name=name)
