"""Citations by shared words: for hosts without the local models, and the baseline of the verified ones.

It finds quotes that speak of the same things. Whether they support the answer it cannot tell, and says so.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.citations.checked import Checked, citation_of, least
from langgraph_evidence.citations.facts import facts_of, held_by
from langgraph_evidence.citations.quotes import Quote, premise, quotes_of
from langgraph_evidence.citations.statements import Statement, statements
from langgraph_evidence.text import content_words, holds
from langgraph_evidence.types import Passage, SentenceSupport, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

# One shared word ("born", "film") is chance; two that no other quote has are a reason to cite.
_TELLING = 2
# Of each statement so many sentences are looked at for the answer's words, those that share most with it.
_TRIED = 200


class _Candidate(NamedTuple):
    quote: Quote
    words: set[str]
    names_answer: bool


class LexicalVerifier:
    """Quotes for each sentence of an answer by the words that they share with it.

    Greedy: first the passage whose best sentence names the answer and shares most words with it and its question, then
    each further passage that adds words that no cited one has (one word alone is chance). The support is the share of
    the statement's content words that quotes and titles hold: no probability.
    """

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        """See `AnswerVerifier`; there are never conflicts, and `supported` says that all facts stand in the quotes."""
        candidates = [(quote, content_words(quote.titled)) for quote in quotes_of(evidence)]
        citations, sentences = [], []
        for statement in statements(question, answer):
            claim = content_words(statement.text)
            chosen = _covering(statement, claim, candidates)
            covered = set().union(*(found.words for found in chosen))
            support = len(covered) / len(claim) if claim else 0.0
            quotes = [found.quote for found in chosen]
            citations += [citation_of(statement, quote, support) for quote in quotes]
            verdict = _verdict(statement, quotes)
            sentences.append(
                SentenceSupport(start=statement.start, end=statement.end, support=support, verdict=verdict)
            )
        return Checked(citations, sentences, least(sentences), [], "lexical")


def _verdict(statement: Statement, quotes: Sequence[Quote]) -> Verdict:
    if not quotes:
        return "unsupported"
    return "supported" if facts_of(statement.said) <= held_by(premise(quotes)) else "partly"


def _covering(statement: Statement, claim: set[str], quotes: Sequence[tuple[Quote, set[str]]]) -> list[_Candidate]:
    """The smallest set of quotes, one a passage, that covers what the evidence covers of a statement."""
    open_candidates = _best_of_each_passage(statement, claim, quotes)
    covered: set[str] = set()
    chosen: list[_Candidate] = []
    while open_candidates:
        best = max(open_candidates, key=lambda found: (found.names_answer and not chosen, len(found.words - covered)))
        added = best.words - covered
        if not added or (len(added) < _TELLING and not best.names_answer):
            break
        open_candidates.remove(best)
        covered |= best.words
        chosen.append(best)
    return chosen


def _best_of_each_passage(
    statement: Statement, claim: set[str], quotes: Sequence[tuple[Quote, set[str]]]
) -> list[_Candidate]:
    """The sentence that shares most with the claim; one that names the answer goes before one that does not."""
    best: dict[str, _Candidate] = {}
    sharing = [(quote, shared) for quote, said in quotes if (shared := said & claim)]
    for quote, shared in heapq.nlargest(_TRIED, sharing, key=lambda known: len(known[1])):
        found = _Candidate(quote, shared, holds(quote.text, statement.said))
        old = best.get(quote.passage["id"])
        if old is None or (found.names_answer, len(shared)) > (old.names_answer, len(old.words)):
            best[quote.passage["id"]] = found
    return list(best.values())
