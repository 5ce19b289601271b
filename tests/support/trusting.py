"""Verifiers without a model: one that trusts every answer that has evidence, one that doubts, one that fails."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_evidence.citations import Checked, LexicalVerifier
from langgraph_evidence.errors import ModelError
from langgraph_evidence.types import Citation, Passage, SentenceSupport


class TrustingVerifier:
    """Quotes by words, and calls each sentence supported where there is any evidence."""

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """See `AnswerVerifier`."""
        found = LexicalVerifier().check(question, answer, evidence)
        trust = 1.0 if evidence else 0.0
        sentences = [
            SentenceSupport(
                start=s["start"], end=s["end"], support=trust, verdict="supported" if evidence else "unsupported"
            )
            for s in found.sentences
        ]
        citations = found.citations or [_first_words(answer, passage) for passage in evidence[:1]]
        return Checked(citations, sentences, trust, [], "verified")


def _first_words(answer: str, passage: Passage) -> Citation:
    end = min(40, len(passage["text"]))
    return Citation(
        start=0, end=len(answer), passage_id=passage["id"], title=passage["title"], quote=passage["text"][:end],
        quote_start=0, quote_end=end, support=1.0,
    )  # fmt: skip


class DoubtingVerifier(TrustingVerifier):
    """Finds the same quotes, and says that they support no sentence.

    Args:
        support: What it says of every answer.
    """

    def __init__(self, support: float = 0.25) -> None:
        self.support = support

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """See `AnswerVerifier`."""
        found = super().check(question, answer, evidence)
        sentences = [SentenceSupport({**s, "support": self.support, "verdict": "unsupported"}) for s in found.sentences]
        citations = [Citation({**c, "support": self.support}) for c in found.citations]
        return found._replace(sentences=sentences, citations=citations, support=self.support)


class FailingVerifier:
    """Its server does not answer."""

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """See `AnswerVerifier`."""
        raise ModelError("The scoring server does not answer.")


def trusting() -> TrustingVerifier:
    """What a graph calls for its verifier."""
    return TrustingVerifier()
