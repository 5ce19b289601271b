"""What the graphs ask of any LangChain retriever: ranked passages, and those that are not held yet."""

from __future__ import annotations

import math
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.errors import GraphBubbleUp

from langgraph_evidence.concurrency import call_either, in_thread
from langgraph_evidence.errors import EvidenceError, ResourceError
from langgraph_evidence.text import storable
from langgraph_evidence.types import Passage, content_id

if TYPE_CHECKING:
    from collections.abc import Collection


async def search(retriever: BaseRetriever, query: str, *, k: int) -> list[Passage]:
    """The passages for a query, best first, each once, at most k of them.

    A retriever of another make may know no k, and return as many as it is set to.

    Raises:
        ResourceError: The retriever failed, or gave no documents; its own error is the cause.
    """
    try:
        documents = await call_either(partial(_call, retriever, k=k), partial(_acall, retriever, k=k), query)
    except (GraphBubbleUp, EvidenceError):
        raise
    except Exception as error:
        raise ResourceError(
            f"The retriever {type(retriever).__name__} failed on the query {query!r}: {type(error).__name__}: {error}"
        ) from error
    passages: dict[str, Passage] = {}
    for document in _checked(documents, retriever):
        passage = _passage(document)
        if passage["text"].strip():
            passages.setdefault(passage["id"], passage)
    return list(passages.values())[:k]


def _passage(document: Document) -> Passage:
    """Reads a LangChain document as a passage; a document without an id is known by the hash of its title and text."""
    title, text = storable(str(document.metadata.get("title") or "")), storable(document.page_content)
    text_id = document.id or document.metadata.get("id") or content_id(title, text)
    passage = Passage(id=storable(str(text_id)), title=title, text=text)
    score = document.metadata.get("score")
    if score is not None and math.isfinite(float(score)):
        passage["score"] = float(score)
    return passage


def _call(retriever: BaseRetriever, query: str, *, k: int) -> Any:
    return retriever.invoke(query, None, **_limit(retriever, "_get_relevant_documents", k))


async def _acall(retriever: BaseRetriever, query: str, *, k: int) -> Any:
    """The asynchronous face; without one of its own, the other in a thread, which holds up no one when it hangs."""
    if _face(retriever, "_aget_relevant_documents") is vars(BaseRetriever)["_aget_relevant_documents"]:
        return await in_thread(_call, retriever, query, k=k)
    return await retriever.ainvoke(query, None, **_limit(retriever, "_aget_relevant_documents", k))


def _face(retriever: BaseRetriever, name: str) -> Any:
    """A method of the retriever's class; None of what only wraps one, as `with_config` does."""
    return next((vars(kind)[name] for kind in type(retriever).__mro__ if name in vars(kind)), None)


def _limit(retriever: BaseRetriever, name: str, k: int) -> dict[str, Any]:
    """K where this face takes one: LangChain hands whatever it is given on to a face that has any name of its own."""
    face = _face(retriever, name)
    parameters = signature(face).parameters if face else {}
    takes = "k" in parameters or any(given.kind is Parameter.VAR_KEYWORD for given in parameters.values())
    return {"k": k} if takes else {}


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


async def search_new(retriever: BaseRetriever, query: str, *, k: int, seen: Collection[str]) -> list[Passage]:
    """The passages for a query whose ids are not among those seen, best first, at most k of them."""
    passages = await search(retriever, query, k=len(seen) + k)
    return [passage for passage in passages if passage["id"] not in seen][:k]


async def first_new(retriever: BaseRetriever, query: str, *, seen: Collection[str]) -> Passage | None:
    """The best ranked passage whose id is not among those seen, or None when the retriever has no other."""
    return next(iter(await search_new(retriever, query, k=1, seen=seen)), None)
