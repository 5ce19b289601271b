"""The steps on one path, each a node: choose actions, write a query, retrieve, answer."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.budget import took
from langgraph_evidence.errors import ModelError, OutOfCalls, OutOfTime
from langgraph_evidence.methods.rq_rag import events
from langgraph_evidence.methods.rq_rag.prompted import Prompted
from langgraph_evidence.methods.rq_rag.rounds import row_of
from langgraph_evidence.methods.rq_rag.state import RqRagState
from langgraph_evidence.methods.rq_rag.trained import Trained, settings_of
from langgraph_evidence.methods.rq_rag.tree import changed
from langgraph_evidence.retrieval.search import search, search_new
from langgraph_evidence.types import Passage, no_usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.llm import LanguageModel
    from langgraph_evidence.methods.rq_rag.policy import Policy, Wrote
    from langgraph_evidence.methods.rq_rag.state import Path, Stage, Task
    from langgraph_evidence.types import Usage

ADAPTER = "rq_rag"
"""What the adapter of a trained model is called."""

# How models and servers say that a prompt is too long for them.
_TOO_LONG = re.compile(r"context|too long|shorten the evidence|maximum.{0,20}tokens", re.IGNORECASE)


@dataclass(frozen=True)
class Steps:
    """What the steps are made with."""

    model: LanguageModel
    retriever: BaseRetriever

    def asking(self) -> tuple[Callable[[Task], Awaitable[RqRagState]], ...]:
        """The steps in the order of a level of the tree."""
        return (self.choose, self.refine, self.retrieve, self.answer)

    def policy(self, task: Task) -> Policy:
        """Control tokens where the settings say so or the model has the adapter, else prompts."""
        wanted = settings_of(task).policy
        trained = wanted == "trained" or (wanted == "auto" and self.model.provider.adapter == ADAPTER)
        return Trained(self.model) if trained else Prompted(self.model)

    async def choose(self, task: Task) -> RqRagState:
        """Which actions to take at a path."""
        found = await self.policy(task).choose(task)
        path = changed(task["path"], stage="chosen", proposals=found.proposals)
        events.actions({"path": path["id"], "proposals": found.proposals})
        return _done(task, path, found.usage)

    async def refine(self, task: Task) -> RqRagState:
        """The refined query Q_i of a path's action."""
        wrote = await self.policy(task).refine(task)
        path = changed(task["path"], **_written(task["path"], wrote, then="retrieve"), query=wrote.text)
        events.query({"path": path["id"], "action": str(path["action"]), "query": path["query"], "why": path["why"]})
        return _done(task, path, wrote.usage)

    async def retrieve(self, task: Task) -> RqRagState:
        """The passages D_i1 ... D_ik for a path's query; the host's deadline cuts it."""
        started, path, settings = time.monotonic(), task["path"], settings_of(task)
        seen = {passage["id"] for step in task["steps"] for passage in step["passages"]}
        try:
            async with asyncio.timeout(task["seconds"]):
                if settings.unseen:
                    found = await search_new(self.retriever, path["query"], k=settings.passages, seen=seen)
                else:
                    found = await search(self.retriever, path["query"], k=settings.passages)
        except TimeoutError:
            return _done(task, changed(path, late=True), took(time.monotonic() - started))
        passages = {p["id"]: Passage({**p, "query": path["query"], "iteration": path["depth"]}) for p in found}
        events.evidence({"path": path["id"], "query": path["query"], "passages": list(passages.values())})
        path = changed(path, stage="retrieved", evidence=list(passages))
        return RqRagState(passages=passages, **_done(task, path, took(time.monotonic() - started)))

    async def answer(self, task: Task) -> RqRagState:
        """The final answer Y_final of a path."""
        wrote = await self.policy(task).answer(task)
        path = changed(
            task["path"], **_written(task["path"], wrote, then="answered"), answer=wrote.text, final=wrote.final
        )
        events.trajectory(
            {"path": path["id"], "answer": path["answer"], "failure": path["failure"], "why": path["why"]}
        )
        return _done(task, path, wrote.usage)


def _written(path: Path, wrote: Wrote, *, then: Stage) -> dict[str, Any]:
    """What a reply changes: its tokens follow that of the action."""
    known = wrote.generated is not None and path["generated"] is not None
    return {
        "stage": "failed" if wrote.failure else then,
        "generated": [*(path["generated"] or []), *(wrote.generated or [])] if known else None,
        "failure": wrote.failure,
        "why": wrote.why,
    }


def guarded(step: Callable[[Task], Awaitable[RqRagState]]) -> Callable[[Task], Any]:
    """The step as a node. A call that fails for a passing reason is made again in the next round, and once only.

    Then the path has failed and the others go on; where it is the only one, the failure is the run's, which can be
    resumed. A call that the run's deadline cut is marked, and `advance` ends the run with what there is.
    """

    async def run(task: Task) -> RqRagState:
        path = task["path"]
        try:
            return await step(task)
        except ModelError as error:
            if isinstance(error, OutOfTime) or (isinstance(error, OutOfCalls) and path["last"]):
                return _done(task, changed(path, late=True), error.usage)
            if not error.transient:
                return _too_long(task, error)
            if not path["tries"]:
                return _done(task, changed(path, tries=1), error.usage)
            if task["alone"]:
                raise
            return _done(task, _lost(path, error), error.usage)

    run.__name__ = step.__name__
    return run


def _lost(path: Path, error: ModelError) -> Path:
    """A path whose call did not go through; one that was only to choose its actions answers from what it holds."""
    if path["stage"] == "choose":
        return changed(path, stage="chosen", tries=0)
    return changed(path, stage="failed", failure="lost", why=f"No call went through: {error}")


def _too_long(task: Task, error: ModelError) -> RqRagState:
    """A prompt that the model calls too long is its path's failure; any other refusal is the run's.

    Raises:
        ModelError: The model refused for another reason, or there was no evidence to make a prompt long.
    """
    if not task["steps"] or not _TOO_LONG.search(str(error)):
        raise error
    failed = changed(task["path"], stage="failed", failure="context", why=str(error))
    return _done(task, failed, error.usage)


def _done(task: Task, path: Path, usage: Usage | None) -> RqRagState:
    return RqRagState(paths={path["id"]: path}, ledger={row_of(task["round"], path): usage or no_usage()})
