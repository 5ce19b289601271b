"""Examples for the offline planner: FuRePA's loop over a question's own passages, played without a language model."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.coverage import coverage
from langgraph_evidence.llm.offline.hops import FEWEST, plan
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.methods.furepa.assessor import filter_queries
from langgraph_evidence.methods.furepa.plans import context_of
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES, full_ranking, passages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.llm.offline.candidates import Candidate
    from langgraph_evidence.llm.offline.hops import NextSteps
    from langgraph_evidence.llm.offline.weights import Tables
    from langgraph_evidence.training.base import DataFolder

SETTINGS = FurepaSettings()
TEMPERATURE = SETTINGS.temperature or 0.0
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
        retriever: BM25 over them.
    """

    source: str
    question: str
    lines: tuple[str, ...]
    gold: frozenset[int]
    retriever: BM25Retriever
    _rankings: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def ranking(self, query: str) -> tuple[int, ...]:
        """All passages, best first."""
        if query not in self._rankings:
            self._rankings[query] = full_ranking(self.retriever, query)
        return self._rankings[query]

    def found(self, query: str, held: Sequence[int]) -> int | None:
        """The first passage of a query that is not held; nothing when all are."""
        return next((index for index in self.ranking(query) if index not in held), None)

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


@dataclass(frozen=True)
class Readiness:
    """One state: the features of `coverage`, and whether the evidence is complete."""

    source: str
    held: int
    features: dict[str, float]
    complete: bool


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
    chooser = random.Random(seed)
    states = ((case, held) for case in cases for held in _states(case, chooser))
    return [_choice(case, held) for case, held in states if not case.gold.issubset(held)]


def _choice(case: Case, held: Sequence[int]) -> Choice:
    unique: dict[str, Candidate] = {}
    for candidate in proposed(analyse(case.question), case.evidence(held)):
        unique.setdefault(candidate.query, candidate)
    features = [candidate.named(len(held)) for candidate in unique.values()]
    return Choice(case.source, features, [case.found(query, held) in case.gold for query in unique])


def _states(case: Case, chooser: random.Random) -> list[tuple[int, ...]]:
    """Nothing; one passage; a right one with a wrong one in either order; some or all but one of many right ones."""
    gold, ranking = sorted(case.gold), case.ranking(case.question)
    wrong = next(index for index in ranking if index not in case.gold)
    states = [(), ranking[:1], *((index,) for index in gold)]
    states += [(chooser.choice(gold), wrong), (wrong, chooser.choice(gold))]
    if len(gold) > FEWEST:
        states += [tuple(chooser.sample(gold, FEWEST)), tuple(chooser.sample(gold, len(gold) - 1))]
    return list(dict.fromkeys(states))


def make_readiness(cases: Iterable[Case], tables: Tables, *, seed: int = 0) -> list[Readiness]:
    """The states of walks that never stop; `tables` choose the queries."""
    rows = []
    for case in cases:
        held, _ = walk(case, tables, seed=seed, may_stop=False)
        for count in range(FEWEST, len(held) + 1):
            evidence = case.evidence(held[:count])
            best = plan(case.question, evidence, tables=tables).queries[0][1]
            features = coverage(analyse(case.question), evidence, best=best)
            rows.append(Readiness(case.source, count, features, case.gold.issubset(held[:count])))
    return rows


def walk(case: Case, tables: Tables, *, seed: int = 0, may_stop: bool = True) -> tuple[list[int], bool]:
    """Plays FuRePA's loop; the first query that the filter leaves is asked, so no scorer is needed.

    Returns:
        The passages in the order they were found, and whether the planner chose to answer.
    """
    held: list[int] = []
    done: list[str] = []
    temperature = TEMPERATURE
    for _ in range(SETTINGS.iterations):
        plans = plan(case.question, case.evidence(held), tables=tables)
        plans = plans if may_stop else replace(plans, ready=0.0)
        queries = sample_queries(plans, temperature, f"{seed}/{case.question}/{held}/{temperature}")
        if 1 - len(queries) / SETTINGS.samples >= SETTINGS.threshold:
            return held, True
        fresh = filter_queries(queries, done, eps=SETTINGS.eps, min_cluster=SETTINGS.min_cluster)
        if not fresh:
            temperature = min(temperature + SETTINGS.temperature_step, SETTINGS.temperature_limit)
            continue
        done.append(queries[fresh[0]])
        new = case.found(done[-1], held)
        held += [] if new is None else [new]
    return held, False


def sample_queries(plans: NextSteps, temperature: float, seed: str) -> list[str]:
    """The queries of the samples that do not answer."""
    chances = [random.Random(f"{seed}/{index}") for index in range(SETTINGS.samples)]
    return [plans.query(temperature, chance) for chance in chances if not plans.answers(temperature, chance)]
