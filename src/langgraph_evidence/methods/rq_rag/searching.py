"""The searches of a level, all at the same time; what several paths ask alike is searched for once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from langgraph_evidence.budget import took
from langgraph_evidence.concurrency import gather
from langgraph_evidence.methods.rq_rag import events
from langgraph_evidence.methods.rq_rag.rounds import row_of
from langgraph_evidence.methods.rq_rag.state import RqRagState
from langgraph_evidence.methods.rq_rag.tree import changed
from langgraph_evidence.retrieval.search import search, search_new
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.methods.rq_rag.state import Searches, Searching


async def search_all(retriever: BaseRetriever, searches: Searches) -> RqRagState:
    """Brings k passages for each query; a path whose search the run's deadline cut is marked.

    They are one node, which a resumed run makes again as a whole: a search costs no call and changes nothing.

    Args:
        retriever: Where evidence comes from.
        searches: The paths, what each has seen, how many passages a query brings, and the time that is left.
    """
    started = time.monotonic()
    asked = {_key(each): each for each in searches["searching"]}
    found = dict(zip(asked, await gather([_search(retriever, e, searches) for e in asked.values()]), strict=True))
    passages: dict[str, Passage] = {}
    paths = {}
    for each in searches["searching"]:
        path, brought = each["path"], found[_key(each)]
        if brought is None:
            paths[path["id"]] = changed(path, late=True)
            continue
        told = [Passage({**p, "query": path["query"], "iteration": path["depth"]}) for p in brought]
        events.evidence({"path": path["id"], "query": path["query"], "passages": told})
        passages |= {passage["id"]: passage for passage in told}
        paths[path["id"]] = changed(path, stage="retrieved", evidence=[passage["id"] for passage in told])
    usage = took(time.monotonic() - started)
    ledger = {row_of(searches["round"], path): usage for path in paths.values()}
    return RqRagState(paths=paths, passages=passages, ledger=ledger)


def _key(each: Searching) -> tuple[str, ...]:
    return (each["path"]["query"], *sorted(each["seen"]))


async def _search(retriever: BaseRetriever, each: Searching, searches: Searches) -> Sequence[Passage] | None:
    """The passages for one query, or None where the time was up."""
    try:
        async with asyncio.timeout(searches["seconds"]):
            if searches["unseen"]:
                return await search_new(retriever, each["path"]["query"], k=searches["passages"], seen=each["seen"])
            return await search(retriever, each["path"]["query"], k=searches["passages"])
    except TimeoutError:
        return None
