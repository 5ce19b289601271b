"""Verified citations: the smallest set of quotes that a model reads as entailing each sentence of an answer."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.citations.checked import Checked, citation_of, least
from langgraph_evidence.citations.facts import facts_of, held_by
from langgraph_evidence.citations.guarded import contradicted, entailed, ranked_scores
from langgraph_evidence.citations.quotes import Quote, premise, quotes_of
from langgraph_evidence.citations.statements import Statement, statements
from langgraph_evidence.citations.witness import told_again
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.text import content_words
from langgraph_evidence.types import Citation, Conflict, Passage, SentenceSupport, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.citations.guarded import EntailmentModel, Ranker
    from langgraph_evidence.citations.witness import AnswerReader

MOST_QUOTES = 3
"""More quotes than these for one sentence are no proof that a person would read."""

# Sentences that are ranked, those of them that sets are made of, and the sets of each size that are read.
_RANKED, _COMBINED, _READ = 48, 8, 1
# Of so many of the best ranked sentences it is asked whether they answer the question at all.
_SUFFICIENT = 4
# What it weighs that all names of the question stand in the quotes, beside the mean of their ranking scores (0 to 1).
_NAMED = 0.5
_CONTRADICTS = 0.9
_PARTLY = 0.5
_CERTAIN = 1e-6
# What a reader does not say may yet be so: it gives a handful of answers, in the text's words.
_NOT_TOLD = 0.005


class Calibration(NamedTuple):
    """From the models' probabilities to the share of such answers that are right (Platt 1999).

    `a x + b` is the logit of the support, with x the mean of the logits of the probabilities.

    Attributes:
        slope: a.
        intercept: b.
    """

    slope: float = 1.0
    intercept: float = 0.0

    def __call__(self, *probabilities: float) -> float:
        """The calibrated probability."""
        mean = sum(map(_logit, probabilities)) / len(probabilities)
        return 1 / (1 + math.exp(-(self.slope * mean + self.intercept)))


def _logit(probability: float) -> float:
    p = min(max(probability, _CERTAIN), 1 - _CERTAIN)
    return math.log(p / (1 - p))


class _Ranked(NamedTuple):
    quote: Quote
    score: float
    held: frozenset[str]


class _Proof(NamedTuple):
    quotes: tuple[Quote, ...]
    probability: float
    told: float | None = None


class Verifier:
    """Checks answers by a sentence ranker, a gate of facts and an entailment model.

    For each statement of the answer the ranker orders the sentences of the evidence. Of the sets of one, two and three
    sentences in which every number, date and name of the answer stands, the best ranked one of each size is read as a
    premise; the smallest that entails the statement is cited, else the one that comes nearest. So the ranker, which was
    taught what a proof is made of, chooses, and the entailment model, which was taught what a proof is, decides. The
    support of a short answer is lowered where the evidence does not answer its question at all, which the entailment
    model tells of the question alone, and where a reader of the quotes gives another answer; then it is supported at
    most partly. Models that cache by content read nothing twice.

    Args:
        entailment: Decides.
        ranker: Chooses what is read.
        reader: The second witness; without it there is none.
        calibration: From the models' probabilities to support, of a short answer that is read with its question.
        of_sentences: The same of a sentence that is read by itself; without it as of a short answer.
    """

    def __init__(
        self,
        entailment: EntailmentModel,
        ranker: Ranker,
        *,
        reader: AnswerReader | None = None,
        calibration: Calibration | None = None,
        of_sentences: Calibration | None = None,
    ) -> None:
        self._entailment, self._ranker, self._reader = entailment, ranker, reader
        self._calibration = calibration or Calibration()
        self._of_sentences = of_sentences or self._calibration

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """See `AnswerVerifier`.

        Raises:
            ModelError: A model behind a server failed.
        """
        candidates = [(quote, content_words(quote.titled)) for quote in quotes_of(evidence)]
        citations: list[Citation] = []
        sentences: list[SentenceSupport] = []
        conflicts: list[Conflict] = []
        for statement in statements(question, answer):
            ranked = self._ranked(statement, candidates)
            proof = self._witnessed(question, statement, self._proof(statement, ranked))
            support = self._support(question, statement, proof, ranked)
            citations += [citation_of(statement, quote, support) for quote in proof.quotes]
            verdict = self._verdict(proof)
            sentences.append(
                SentenceSupport(start=statement.start, end=statement.end, support=support, verdict=verdict)
            )
            if verdict == "supported":
                conflicts += self._conflicts(statement, ranked, proof)
        return Checked(citations, sentences, least(sentences), conflicts, "verified")

    def _ranked(self, statement: Statement, quotes: Sequence[tuple[Quote, set[str]]]) -> list[_Ranked]:
        """The quotes that matter most to a statement, best first; of very many, those that share words with it."""
        claim = content_words(statement.text)
        shared = [quote for quote, said in sorted(quotes, key=lambda known: -len(claim & known[1]))[:_RANKED]]
        scores = ranked_scores(self._ranker, statement.text, [quote.titled for quote in shared])
        found = [_Ranked(quote, score, held_by(quote.titled)) for quote, score in zip(shared, scores, strict=True)]
        return sorted(found, key=lambda known: -known.score)

    def _proof(self, statement: Statement, ranked: Sequence[_Ranked]) -> _Proof:
        """The smallest of the best ranked sets that entails the statement, else the one that comes nearest to it."""
        best = _Proof((), 0.0)
        for size in range(1, MOST_QUOTES + 1):
            found = self._read(statement, _sets(statement, ranked, size))
            best = max([best, *found], key=lambda proof: proof.probability)
            if best.probability >= self._entailment.threshold:
                break
        return best

    def _read(self, statement: Statement, sets: Sequence[tuple[Quote, ...]]) -> list[_Proof]:
        pairs = [(premise(quotes), statement.text) for quotes in sets]
        return [_Proof(quotes, p) for quotes, p in zip(sets, entailed(self._entailment, pairs), strict=True)]

    def _witnessed(self, question: str, statement: Statement, proof: _Proof) -> _Proof:
        if self._reader is None or not proof.quotes:
            return proof
        return proof._replace(told=told_again(self._reader, question, statement, proof.quotes))

    def _support(self, question: str, statement: Statement, proof: _Proof, ranked: Sequence[_Ranked]) -> float:
        """Calibrated: how far the quotes entail it and the reader says it, and the evidence answers its question."""
        if not proof.quotes:
            return 0.0
        found, short = [proof.probability], statement.text != statement.said
        if short:
            read = premise([known.quote for known in ranked[:_SUFFICIENT]])
            found += entailed(self._entailment, [(read, f"{question.strip().rstrip('?. ')}?")])
        if proof.told is not None:
            found.append(max(proof.told, _NOT_TOLD))
        return (self._calibration if short else self._of_sentences)(*found)

    def _verdict(self, proof: _Proof) -> Verdict:
        if not proof.quotes:
            return "unsupported"
        disputed = proof.told is not None and proof.told < _NOT_TOLD
        if proof.probability >= self._entailment.threshold:
            return "partly" if disputed else "supported"
        return "partly" if proof.probability >= _PARTLY * self._entailment.threshold else "unsupported"

    def _conflicts(self, statement: Statement, ranked: Sequence[_Ranked], proof: _Proof) -> list[Conflict]:
        """Sentences of other passages that contradict what the proof's passages say."""
        cited = {quote.passage["id"] for quote in proof.quotes}
        others = [known.quote for known in ranked[:_COMBINED] if known.quote.passage["id"] not in cited]
        try:
            found = contradicted(self._entailment, [(quote.titled, statement.text) for quote in others])
        except InvalidInput:  # a model of two labels tells no contradiction
            return []
        return [
            _conflict(statement, quote, value)
            for quote, value in zip(others, found, strict=True)
            if value >= _CONTRADICTS
        ]


def _sets(statement: Statement, ranked: Sequence[_Ranked], size: int) -> list[tuple[Quote, ...]]:
    """The best ranked sets of a size that pass the gate.

    Of the question's names and numbers those count that stand in the evidence at all: a proof speaks of them.
    """
    facts = facts_of(statement.said)
    named = facts_of(statement.text) & frozenset().union(*(known.held for known in ranked))

    def rank(chosen: tuple[_Ranked, ...]) -> float:
        covered = len(named & _held(chosen)) / len(named) if named else 1.0
        return sum(known.score for known in chosen) / size + _NAMED * covered

    passing = [chosen for chosen in combinations(ranked[:_COMBINED], size) if facts <= _held(chosen)]
    return [tuple(known.quote for known in chosen) for chosen in sorted(passing, key=rank, reverse=True)[:_READ]]


def _held(chosen: Iterable[_Ranked]) -> frozenset[str]:
    return frozenset().union(*(known.held for known in chosen))


def _conflict(statement: Statement, quote: Quote, contradiction: float) -> Conflict:
    return Conflict(
        start=statement.start,
        end=statement.end,
        passage_id=quote.passage["id"],
        title=quote.passage["title"],
        quote=quote.text,
        quote_start=quote.start,
        quote_end=quote.end,
        contradiction=contradiction,
    )
