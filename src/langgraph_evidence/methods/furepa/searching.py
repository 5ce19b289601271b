"""Query scoring over what the queries find, and the one search of an iteration (sections 3.1.1, 3.2.3)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from langgraph_evidence.budget import took
from langgraph_evidence.citations import asked_and_told
from langgraph_evidence.concurrency import gather, in_thread
from langgraph_evidence.methods.furepa import assessor, events
from langgraph_evidence.methods.furepa.state import FurepaState, ScoredQuery, Step, held_of, plans_of_round
from langgraph_evidence.retrieval.search import first_new, search_new
from langgraph_evidence.types import Passage, passage_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.methods.furepa.settings import FurepaSettings
    from langgraph_evidence.methods.furepa.state import Plan
    from langgraph_evidence.models.query_scorer import QueryScorer
    from langgraph_evidence.types import Usage


def doubted(state: FurepaState, plan: Plan, why: str, settings: FurepaSettings) -> FurepaState:
    """Goes on from an answer that the evidence does not support: by the queries of its round, else by the answer.

    The paper's vote ends the run here. What was proposed beside the answer and asks for something new is searched for;
    without any, the question with the answer is, once: a passage that states it is what is missing.
    """
    events.doubt({"iteration": state["iteration"], "answer": plan["text"], "why": why})
    executed = [step["query"] for step in state["steps"]]
    others = [other for other in plans_of_round(state) if other["kind"] == "search"]
    found = assessor.assess(len(state["evidence"]), others, executed, settings)[1] if others else []
    queries = [ScoredQuery(plan=other["id"], query=other["text"], score=0.0, relevance=0.0) for other in found]
    stated = asked_and_told(state["question"], plan["text"])
    if not queries and stated not in executed:
        queries = [ScoredQuery(plan=plan["id"], query=stated, score=0.0, relevance=0.0)]
    return FurepaState(chosen=[], queries=queries, scored_by="none")


async def rank_by_score(
    state: FurepaState,
    retriever: BaseRetriever,
    scorer: Callable[[], QueryScorer],
    *,
    limit: int,
    seconds: float | None,
) -> FurepaState:
    """Orders the queries by their predicted reciprocal rank (eqs. 6-10); without the time for it they stay as they are.

    D is what the queries find, without what is held: to find that again is no merit, the search passes over it. The
    paper's D is a question's own paragraphs.

    Args:
        state: Of the run.
        retriever: Finds D.
        scorer: Gives the scorer; it is called in a thread, so that loading weights blocks no event loop.
        limit: Passages that are taken for each query.
        seconds: The time that is left, or None.
    """
    started = time.monotonic()
    queries = [item["query"] for item in state["queries"]]
    try:
        async with asyncio.timeout(seconds):
            searches = [search_new(retriever, query, k=limit, seen=held_of(state)) for query in queries]
            pool = {passage["id"]: passage_line(passage) for found in await gather(searches) for passage in found}
            scores, trained = await in_thread(_score, scorer, queries, list(pool.values()))
    except TimeoutError:
        return FurepaState(ledger=_row(state, "score", started))
    ranked = [
        ScoredQuery({
            **state["queries"][i],
            "score": assessor.predicted_score(scores[i]),
            "relevance": max(scores[i], default=0.0),
        })
        for i in assessor.rank_queries(scores)
    ]  # fmt: skip
    return FurepaState(
        queries=ranked, scored_by="trained" if trained else "untrained", ledger=_row(state, "score", started)
    )


def _score(
    scorer: Callable[[], QueryScorer], queries: list[str], passages: list[str]
) -> tuple[list[list[float]], bool]:
    model = scorer()
    return model.score(queries, passages), model.trained


async def execute(state: FurepaState, retriever: BaseRetriever, *, seconds: float | None) -> FurepaState:
    """Searches by the first query: its best ranked passage that is not held yet joins the evidence (eq. 3).

    A search that the run's deadline cuts changes nothing but the time spent.
    """
    started = time.monotonic()
    iteration, queries = state["iteration"], state["queries"]
    query = queries[0]["query"]
    try:
        async with asyncio.timeout(seconds):
            passage = await first_new(retriever, query, seen=held_of(state))
    except TimeoutError:
        return FurepaState(ledger=_row(state, "retrieve", started))
    events.query({"iteration": iteration, "query": query, "queries": queries, "scorer": state["scored_by"]})
    found = None if passage is None else Passage({**passage, "query": query, "iteration": iteration})
    evidence = [*state["evidence"], *([] if found is None else [found])]
    events.evidence({"iteration": iteration, "query": query, "passage": found, "held": len(evidence)})
    # A query that a human put in has no plan behind it.
    plan = state["plans"].get(queries[0].get("plan", ""))
    step = Step(iteration=iteration, analysis=plan["analysis"] if plan else "", query=query)
    ledger = _row(state, "retrieve", started)
    return FurepaState(iteration=iteration + 1, evidence=evidence, steps=[*state["steps"], step], ledger=ledger)


def _row(state: FurepaState, name: str, started: float) -> dict[str, Usage]:
    return {f"{state['iteration']}:{name}.0": took(time.monotonic() - started)}
