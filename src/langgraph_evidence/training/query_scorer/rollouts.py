"""Training rounds of the query scorer from FuRePA's own course: what the offline model asks beside what it holds.

Next to the queries of `query_data` these are short: names and key words that the evidence brought up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.hops import plan
from langgraph_evidence.methods.furepa.assessor import filter_queries
from langgraph_evidence.training.offline_planner import SETTINGS, read_cases, sample_queries
from langgraph_evidence.training.offline_planner.data import TEMPERATURE
from langgraph_evidence.training.query_scorer.data import Pool
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from langgraph_evidence.training.base import DataFolder
    from langgraph_evidence.training.offline_planner import Case


@dataclass(frozen=True)
class Stage:
    """One iteration that is to be scored: the indexes of the held passages, and the queries that the filter left."""

    held: tuple[int, ...]
    queries: tuple[str, ...]


def read_course(
    data: DataFolder,
    folds: Iterable[int],
    *,
    seed: int = 0,
    questions: Collection[str] | None = None,
    temperature: float = TEMPERATURE,
) -> list[Pool]:
    """The stages of the questions of the folds, or of those named, as pools."""
    cases = [case for case in read_cases(data, folds, seed=seed) if questions is None or case.question in questions]
    return [pool_at(case, stage) for case in cases for stage in course(case, seed=seed, temperature=temperature)]


def course(case: Case, *, seed: int, temperature: float = TEMPERATURE) -> Iterator[Stage]:
    """Plays FuRePA's loop until the evidence is complete, and gives the iterations with more than one query.

    A query is chosen at random, so that right and wrong passages are held; no sample answers.
    """
    chooser = random.Random(f"{seed}/{case.question}")
    held: list[int] = []
    done: list[str] = []
    for _ in range(SETTINGS.iterations):
        if case.gold.issubset(held):
            return
        plans = replace(plan(case.question, case.evidence(held)), ready=0.0)
        queries = sample_queries(plans, temperature, f"{seed}/{case.question}/{held}/{temperature}")
        kept = filter_queries(queries, done, **SETTINGS.filter())
        if len(kept) > 1:
            yield Stage(tuple(held), tuple(queries[index] for index in kept))
        new = None
        if kept:
            done.append(queries[chooser.choice(kept)])
            new = case.found(done[-1], held)
        if new is None:
            temperature = min(temperature + SETTINGS.temperature_step, SETTINGS.temperature_limit)
        else:
            held.append(new)


def pool_at(case: Case, stage: Stage) -> Pool:
    """The pool of a stage: passages, gold and rankings without what is held, which no query can bring again."""
    left = [index for index in range(len(case.lines)) if index not in stage.held]
    place = {index: number for number, index in enumerate(left)}
    return Pool(
        case.source,
        case.question,
        tuple(passage_line(case.retriever.passages[index]) for index in left),
        frozenset(place[index] for index in case.gold.difference(stage.held)),
        stage.queries,
        tuple(tuple(place[index] for index in case.ranking(query) if index in place) for query in stage.queries),
    )
