"""Training rounds of the query scorer from rollouts: what the offline model asks beside what it holds.

Next to the queries of `query_scorer.data` these are short: names and key words that the evidence brought up.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from langgraph_evidence.methods.furepa import FurepaSettings
from langgraph_evidence.training.offline_planner import Order, play, read_cases
from langgraph_evidence.training.query_scorer.data import Pool
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from langgraph_evidence.training.base import DataFolder
    from langgraph_evidence.training.offline_planner import Case, Search

SETTINGS = FurepaSettings()


def read_rollouts(
    data: DataFolder,
    folds: Iterable[int],
    *,
    seed: int = 0,
    questions: Collection[str] | None = None,
    settings: FurepaSettings = SETTINGS,
) -> list[Pool]:
    """The searches of the questions of the folds, or of those named, as pools."""
    cases = [case for case in read_cases(data, folds, seed=seed) if questions is None or case.question in questions]
    return [pool_at(case, search) for case in cases for search in scored_searches(case, seed=seed, settings=settings)]


def scored_searches(case: Case, *, seed: int, settings: FurepaSettings = SETTINGS) -> list[Search]:
    """The searches for which the graph asks its scorer, until the evidence is complete.

    The query that is executed is drawn at random, so that right and wrong passages are held; no sample answers.
    """
    order = Order(random.Random(f"{seed}/{case.question}"))
    run = play(case, seed=seed, settings=settings, order=order, may_answer=False, until_complete=True)
    return [search for search in run.searches if len(search.queries) > 1]


def pool_at(case: Case, search: Search) -> Pool:
    """The pool of a search: passages, gold and rankings without what is held, which no query can bring again."""
    left = [index for index in range(len(case.lines)) if index not in search.held]
    place = {index: number for number, index in enumerate(left)}
    return Pool(
        case.source,
        case.question,
        tuple(passage_line(case.retriever.passages[index]) for index in left),
        frozenset(place[index] for index in case.gold.difference(search.held)),
        search.queries,
        tuple(tuple(place[index] for index in case.ranking(query) if index in place) for query in search.queries),
    )
