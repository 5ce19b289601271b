"""What the graphs ask of any LangChain retriever: ranked passages, and those that are not held yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.errors import GraphBubbleUp

from langgraph_evidence.concurrency import call_either, in_thread
from langgraph_evidence.errors import EvidenceError, ResourceError
from langgraph_evidence.types import Passage, passage_from_document

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection


async def search(retriever: BaseRetriever, query: str, *, k: int) -> list[Passage]:
    """The passages for a query, best first, each once, at most k of them.

    A retriever of another make may ignore k and return as many as it is set to.

    Raises:
        ResourceError: The retriever failed; its own error is the cause.
    """
    try:
        documents = await call_either(retriever.invoke, _asynchronous(retriever), query, k=k)
    except (GraphBubbleUp, EvidenceError):
        raise
    except Exception as error:
        raise ResourceError(
            f"The retriever {type(retriever).__name__} failed on the query {query!r}: {type(error).__name__}: {error}"
        ) from error
    passages: dict[str, Passage] = {}
    for document in _checked(documents, retriever):
        passage = passage_from_document(document)
        if passage["text"].strip():
            passages.setdefault(passage["id"], passage)
    return list(passages.values())[:k]


def _checked(documents: Any, retriever: BaseRetriever) -> list[Document]:
    """What a retriever of any make gave, when it is what one gives.

    Raises:
        ResourceError: It is no list of Documents.
    """
    found = documents if isinstance(documents, list | tuple) else [documents]
    odd = [type(item).__name__ for item in found if not isinstance(item, Document)]
    if odd:
        raise ResourceError(f"The retriever {type(retriever).__name__} gave a {odd[0]}; it gives a list of Documents.")
    return list(found)


def _asynchronous(retriever: BaseRetriever) -> Callable[..., Awaitable[list[Document]]]:
    """The retriever's asynchronous face.

    LangChain's stand-in for a missing one hands no k on to the synchronous face but fails on it.
    """
    owner = next(kind for kind in type(retriever).__mro__ if "_aget_relevant_documents" in vars(kind))
    if owner is not BaseRetriever:
        return retriever.ainvoke

    async def awaited(query: str, *, k: int) -> list[Document]:
        return await in_thread(retriever.invoke, query, k=k)

    return awaited


async def search_new(retriever: BaseRetriever, query: str, *, k: int, seen: Collection[str]) -> list[Passage]:
    """The passages for a query whose ids are not among those seen, best first, at most k of them."""
    passages = await search(retriever, query, k=len(seen) + k)
    return [passage for passage in passages if passage["id"] not in seen][:k]


async def first_new(retriever: BaseRetriever, query: str, *, seen: Collection[str]) -> Passage | None:
    """The best ranked passage whose id is not among those seen, or None when the retriever has no other."""
    return next(iter(await search_new(retriever, query, k=1, seen=seen)), None)
