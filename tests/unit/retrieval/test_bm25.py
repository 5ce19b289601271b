from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.retrieval import BM25Retriever, retriever_for
from langgraph_evidence.retrieval.bm25 import Postings
from langgraph_evidence.retrieval.retriever import best
from langgraph_evidence.types import Passage


def passages(*texts: str) -> list[Passage]:
    return [Passage(id=f"p{number}", title="", text=text) for number, text in enumerate(texts)]


TOWNS = passages(
    "Oslo is the capital of Norway.",
    "Bergen is a city in Norway.",
    "Rome is the capital of Italy.",
    "Norway has fjords.",
)


class TestStandard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> Any:
        return BM25Retriever

    @property
    def retriever_constructor_params(self) -> Any:
        return {"passages": TOWNS, "k": 2}

    @property
    def retriever_query_example(self) -> Any:
        return "the capital of Norway"


def test_a_score_worked_by_hand() -> None:
    retriever = BM25Retriever(passages=passages("cat cat dog", "dog bird"), k1=0.6, b=0.4)
    # idf = ln(1 + (2 - 1 + .5) / (1 + .5)) = ln 2; tf = 2 / (2 + .6 (1 - .4 + .4 * 3 / 2.5)) = 2 / 2.648
    (document,) = retriever.invoke("cats")
    assert document.id == "p0"
    assert document.metadata["score"] == pytest.approx(math.log(2) * 2 / 2.648, rel=1e-6)
    assert type(document.metadata["score"]) is float
    assert retriever.invoke("cat cat")[0].metadata["score"] == pytest.approx(2 * document.metadata["score"], rel=1e-6)


def test_the_title_is_searched_and_metadata_travel() -> None:
    unit: Any = {"id": "a#1", "title": "Ada Lovelace", "text": "She wrote.", "parent": "a", "position": 1}
    (document,) = retriever_for([unit, *TOWNS]).invoke("Lovelace")
    assert document.metadata == {
        "title": "Ada Lovelace",
        "parent": "a",
        "position": 1,
        "score": document.metadata["score"],
    }


def test_equal_scores_stand_in_the_corpus_order() -> None:
    retriever = retriever_for(passages("same words", "same words", "other", "same words"), k=2)
    assert [document.id for document in retriever.invoke("same")] == ["p0", "p1"]


async def test_an_empty_query_finds_nothing_and_k_may_exceed_the_corpus() -> None:
    retriever = retriever_for(TOWNS, k=100)
    assert retriever.invoke("  ") == []
    assert retriever.invoke("zebra") == []
    assert len(retriever.invoke("Norway")) == 3
    assert await retriever.ainvoke("Norway", k=1) == retriever.invoke("Norway", k=1)
    with pytest.raises(InvalidInput, match="k was given 0"):
        retriever.invoke("Norway", k=0)


def test_the_same_scores_as_bm25s() -> None:
    import bm25s

    rng = random.Random(5)
    texts = [" ".join(rng.choices("abcdefghijklm", k=rng.randint(1, 40))) for _ in range(80)]
    engine = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    engine.index([text.split() for text in texts], show_progress=False)
    postings = Postings.build([text.split() for text in texts], k1=1.2, b=0.75)
    for query in (["b", "f"], ["c", "c", "m"]):
        assert postings.score(query, 80) == pytest.approx(engine.get_scores(query), rel=1e-5)


def test_only_function_words_still_find_a_passage() -> None:
    documents = retriever_for([*TOWNS, Passage(id="w", title="The Who", text="A band.")]).invoke("the who")
    assert documents[0].id == "w"


def test_passages_without_words() -> None:
    assert retriever_for(passages("!!!", "...")).invoke("hello") == []


def test_the_same_ranking_as_the_formula() -> None:
    rng = random.Random(3)
    texts = [" ".join(rng.choices("abcdefghij", k=rng.randint(1, 30))) for _ in range(60)]
    retriever = BM25Retriever(passages=passages(*texts), k1=0.9, b=0.75)
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    for query in (["b", "d"], ["c", "j", "e"], ["b"]):
        expected = np.zeros(len(documents))
        for term in query:
            frequency = sum(term in document for document in documents)
            idf = math.log(1 + (len(documents) - frequency + 0.5) / (frequency + 0.5))
            for number, document in enumerate(documents):
                count = document.count(term)
                expected[number] += idf * count / (count + 0.9 * (0.25 + 0.75 * len(document) / mean))
        found = retriever.rank(" ".join(query), 10)
        assert found.scores == pytest.approx(np.sort(expected)[::-1][:10], rel=1e-5)


@given(st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.5, -1.0]), max_size=40), st.integers(1, 45))
def test_best_is_a_full_sort_cut_at_k(scores: list[float], k: int) -> None:
    array = np.array(scores, dtype=np.float32)
    ranking = best(array, k)
    expected = sorted((-score, position) for position, score in enumerate(scores) if score)[:k]
    assert list(zip((-ranking.scores).tolist(), ranking.positions.tolist(), strict=True)) == expected
