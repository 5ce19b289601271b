"""Asks a graph, or any coroutine function, all questions of a data set, several at a time, and survives a kill."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from langgraph_evidence.concurrency import gather
from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError, ResourceError
from langgraph_evidence.evaluation.outcome import EvidenceId, Failure, Outcome, Quoted
from langgraph_evidence.evaluation.selected import candidates_of
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from langchain_core.runnables import Runnable

    from langgraph_evidence.evaluation.outcome import Journal
    from langgraph_evidence.evaluation.question import Question

    Answerer = Callable[[Question], Awaitable[Mapping[str, Any]]]

# Wrong key, no permission, no such model: the next question would fail in the same way.
HOPELESS = frozenset({401, 403, 404})
"""HTTP statuses that every other call would get too."""


def graph_answerer(make: Callable[[Question], Runnable[Any, Any]], *, key: str = "question") -> Answerer:
    """An answerer out of compiled graphs.

    Args:
        make: The graph of a question: a new one over the question's own paragraphs, or always the same one.
        key: The input that takes the question's text.
    """

    async def answer(question: Question) -> Mapping[str, Any]:
        output: Mapping[str, Any] = await make(question).ainvoke({key: question.question})
        return output

    return answer


async def run_questions(
    answerer: Answerer,
    questions: Sequence[Question],
    *,
    concurrency: int = 4,
    journal: Journal | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Asks every question that the journal does not hold yet.

    Args:
        answerer: Gives a graph's output for a question: answer, evidence, citations, usage, stopped, support, guess.
        questions: What to ask.
        concurrency: How many questions are under way at once.
        journal: Keeps each outcome on disk as soon as it is there.
        on_outcome: Is told every new outcome, e.g. to move a progress bar.

    Returns:
        One outcome a question, in their order; a question whose run failed has an `error`.

    Raises:
        InvalidInput: A wrong concurrency, or the answerer refuses what it is given.
        ResourceError: A file that every question needs is missing or damaged.
        MissingExtra: An optional dependency is missing.
        ModelError: The model refuses every call (401, 403, 404).
    """
    if concurrency < 1:
        raise InvalidInput(f"The number of questions at once was given as {concurrency}; it is at least 1.")
    outcomes = dict(journal.done) if journal else {}
    places = asyncio.Semaphore(concurrency)
    told = [call for call in (journal and journal.append, on_outcome) if call]

    async def ask(question: Question) -> None:
        async with places:
            outcomes[question.id] = await _ask(answerer, question)
        for tell in told:
            tell(outcomes[question.id])

    await gather([ask(question) for question in questions if question.id not in outcomes])
    return [outcomes[question.id] for question in questions]


async def _ask(answerer: Answerer, question: Question) -> Outcome:
    started = time.perf_counter()
    try:
        output = await answerer(question)
        return outcome_of(question, output, seconds=time.perf_counter() - started)
    except (InvalidInput, ResourceError, MissingExtra):
        raise
    except Exception as error:
        if isinstance(error, ModelError) and error.status in HOPELESS:
            raise
        return _failed(question, error, seconds=time.perf_counter() - started)


def outcome_of(question: Question, output: Mapping[str, Any], *, seconds: float) -> Outcome:
    """Keeps of a graph's output what the metrics need."""
    outcome = Outcome(
        id=question.id,
        answer=str(output.get("answer") or ""),
        evidence=[EvidenceId(id=str(item["id"]), title=str(item["title"])) for item in output.get("evidence") or []],
        citations=[
            Quoted(passage_id=item["passage_id"], quote_start=item["quote_start"], quote_end=item["quote_end"])
            for item in output.get("citations") or []
        ],
        stopped=str(output.get("stopped") or ""),
        usage=output.get("usage") or no_usage(),
        seconds=round(seconds, 4),
    )
    if output.get("cited_by") == "verified":
        outcome["support"] = float(output["support"])
    if output.get("guess") is not None:
        outcome["guess"] = str(output["guess"]["answer"])
    if output.get("trajectories"):
        outcome["candidates"] = candidates_of(output)
    return outcome


def _failed(question: Question, error: Exception, *, seconds: float) -> Outcome:
    outcome = outcome_of(question, {"stopped": "failed"}, seconds=seconds)
    outcome["error"] = Failure(type=type(error).__name__, message=str(error))
    return outcome
