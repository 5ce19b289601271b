"""Questions over their own passages, and what the offline planner can ask next at some states of their evidence."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.hops import FEWEST
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.methods.furepa.plans import context_of
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES, full_ranking, passages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.llm.offline.candidates import Candidate
    from langgraph_evidence.training.base import DataFolder

SETTINGS = FurepaSettings()
_POOL = 10
"""Passages that a question needs to be worth searching; files hold some rows of gold passages alone."""


@dataclass(frozen=True, eq=False)
class Case:
    """A question over its own passages.

    Args:
        source: The data set.
        question: The question.
        lines: The passages as a prompt shows them.
        gold: Indexes of those it needs.
        retriever: BM25 over them; their ids are their indexes.
    """

    source: str
    question: str
    lines: tuple[str, ...]
    gold: frozenset[int]
    retriever: BM25Retriever
    _matches: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def ranking(self, query: str) -> tuple[int, ...]:
        """All passages, best first; those that share no term with the query come last."""
        return full_ranking(self.retriever, query)

    def found(self, query: str, held: Sequence[int]) -> int | None:
        """The first passage that a query finds and that is not held."""
        if query not in self._matches:
            self._matches[query] = tuple(self.retriever.rank(query, len(self.lines)).positions.tolist())
        return next((index for index in self._matches[query] if index not in held), None)

    def evidence(self, held: Sequence[int]) -> tuple[str, ...]:
        """The lines of the held passages."""
        return tuple(self.lines[index] for index in held)

    def recall(self, held: Iterable[int]) -> float:
        """Share of the gold passages that are held."""
        return len(self.gold.intersection(held)) / len(self.gold)


@dataclass(frozen=True)
class Choice:
    """The candidate queries at one state: their features, and whether each brings a missing passage first."""

    source: str
    features: list[dict[str, float]]
    good: list[bool]


def read_cases(data: DataFolder, folds: Iterable[int], *, seed: int = 0, limit: int = 0) -> list[Case]:
    """The questions of the folds in random order, of each data set `limit` at most, or all with 0."""
    kept, cases = frozenset(folds), []
    for source, files in FILES.items():
        rows = [row for name in files for row in data.rows(name, kept) if len(row["context"]) >= _POOL]
        random.Random(f"{seed} {source}").shuffle(rows)
        for row in rows[: limit or None]:
            passages = passages_of(row)
            lines = tuple(context_of(passages, words=SETTINGS.evidence_words))
            gold = frozenset(index for index in row["gold_idx"] if index < len(passages))
            if gold and len(gold) < len(passages):
                cases.append(Case(source, row["question"], lines, gold, BM25Retriever(passages=passages)))
    return cases


def make_choices(cases: Iterable[Case], *, seed: int = 0) -> list[Choice]:
    """The choices at states that lack something, right and wrong passages held."""
    rng = random.Random(seed)
    states = ((case, held) for case in cases for held in _states(case, rng))
    return [_choice(case, held) for case, held in states if not case.gold.issubset(held)]


def _choice(case: Case, held: Sequence[int]) -> Choice:
    unique: dict[str, Candidate] = {}
    for candidate in proposed(analyse(case.question), case.evidence(held)):
        unique.setdefault(candidate.query, candidate)
    features = [candidate.named(len(held)) for candidate in unique.values()]
    return Choice(case.source, features, [case.found(query, held) in case.gold for query in unique])


def _states(case: Case, rng: random.Random) -> list[tuple[int, ...]]:
    """Nothing; one passage; a right one with a wrong one in either order; some or all but one of many right ones."""
    gold, ranking = sorted(case.gold), case.ranking(case.question)
    wrong = next(index for index in ranking if index not in case.gold)
    states = [(), ranking[:1], *((index,) for index in gold)]
    states += [(rng.choice(gold), wrong), (wrong, rng.choice(gold))]
    if len(gold) > FEWEST:
        states += [tuple(rng.sample(gold, FEWEST)), tuple(rng.sample(gold, len(gold) - 1))]
    return list(dict.fromkeys(states))
