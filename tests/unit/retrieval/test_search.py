from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import ResourceError
from langgraph_evidence.retrieval import retriever_for
from langgraph_evidence.retrieval.search import first_new, search, search_new
from langgraph_evidence.types import Passage

PASSAGES = [Passage(id=f"p{number}", title="", text=f"word{' filler' * number}") for number in range(6)]
BEST_FIRST = [passage["id"] for passage in PASSAGES]


class FixedRetriever(BaseRetriever):
    """Of another make: it knows no k, and its documents have no ids."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("one"), Document("one"), Document(" "), Document("two", metadata={"title": "T"})]


class FailingRetriever(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("refused")


class SyncRetriever(BaseRetriever):
    """It takes a k, and LangChain's stand-in for its missing asynchronous face does not."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 1) -> list[Document]:
        return [Document(str(number), id=str(number)) for number in range(k)]


@pytest.mark.parametrize("seen", [set(), {"p0"}, {"p0", "p1", "p3"}, set(BEST_FIRST[:5])])
async def test_the_best_passage_that_is_not_held(seen: set[str]) -> None:
    retriever = retriever_for(PASSAGES, k=1)
    expected = next(number for number in BEST_FIRST if number not in seen)
    found = await first_new(retriever, "word", seen=seen)
    assert found is not None
    assert found["id"] == expected


async def test_k_passages_that_are_not_held() -> None:
    found = await search_new(retriever_for(PASSAGES, k=1), "word", k=2, seen={"p0", "p2"})
    assert [passage["id"] for passage in found] == [number for number in BEST_FIRST if number not in {"p0", "p2"}][:2]
    assert await search_new(retriever_for(PASSAGES), "word", k=2, seen=set(BEST_FIRST)) == []


async def test_nothing_new() -> None:
    assert await first_new(retriever_for(PASSAGES), "word", seen=set(BEST_FIRST)) is None
    assert await first_new(retriever_for(PASSAGES), "absent", seen=()) is None


async def test_a_retriever_with_a_k_of_its_own() -> None:
    first = await first_new(FixedRetriever(), "q", seen=())
    assert first is not None
    assert first["text"] == "one"
    second = await first_new(FixedRetriever(), "q", seen=[first["id"]])
    assert second is not None
    assert second["title"] == "T"
    assert await first_new(FixedRetriever(), "q", seen=[first["id"], second["id"]]) is None
    assert [passage["text"] for passage in await search(FixedRetriever(), "q", k=1)] == ["one"]


async def test_a_vector_store_and_a_retriever_without_an_asynchronous_face() -> None:
    store = InMemoryVectorStore.from_texts(["a", "b", "c"], DeterministicFakeEmbedding(size=8))
    retriever = store.as_retriever(search_kwargs={"k": 1})
    assert len(await search(retriever, "a", k=3)) == 3
    assert len(await search(SyncRetriever(), "a", k=3)) == 3


def test_the_same_without_an_event_loop() -> None:
    found = run_sync(first_new(SyncRetriever(), "a", seen={"0"}))
    assert found is not None
    assert found["id"] == "1"


async def test_a_failing_retriever_is_named() -> None:
    with pytest.raises(ResourceError, match="FailingRetriever failed on the query 'q': ConnectionError: refused"):
        await search(FailingRetriever(), "q", k=1)
