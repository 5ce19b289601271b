"""Dense retrieval: passages by the cosine of their vectors with the query's, exact or through an HNSW graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from pydantic import Field, PrivateAttr, SkipValidation

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval.embedding import Embedder, EncoderLike
from langgraph_evidence.retrieval.retriever import PassageRetriever, Ranking, highest
from langgraph_evidence.retrieval.storage import load_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

# Comparing a query with every vector is exact and reads the file once; past this many a graph is far faster.
FLAT_UP_TO = 1_000_000
# Neighbours a node and candidates a search: 0.97 of the true top 10 at 100,000 passages (faiss' HNSW32).
_NEIGHBOURS, _CANDIDATES = 32, 128
_VECTORS, _GRAPH = "dense.vectors.npy", "dense.graph.faiss"


class Vectors(Protocol):
    """The passages' vectors, ready to be searched."""

    @property
    def shape(self) -> tuple[int, int]:
        """Passages and dimension."""
        ...

    def search(self, query: NDArray[np.float32], k: int) -> Ranking:
        """The k passages of the highest cosine with a query of length one, shape (dimension,)."""
        ...


class FlatVectors:
    """Vectors that are all compared: numpy's product over the mapped file took a fifth of faiss' flat index' time.

    Args:
        array: Shape (passages, dimension), each of length one.
    """

    def __init__(self, array: NDArray[np.float32]) -> None:
        self._array = array

    @property
    def shape(self) -> tuple[int, int]:
        """Passages and dimension."""
        return self._array.shape[0], self._array.shape[1]

    def search(self, query: NDArray[np.float32], k: int) -> Ranking:
        """The k passages of the highest cosine, exactly; equal ones in the corpus' order."""
        return highest(self._array @ query, k)


class GraphVectors:
    """Vectors in a faiss HNSW graph.

    Args:
        graph: A `faiss.IndexHNSWFlat` of inner products.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @property
    def shape(self) -> tuple[int, int]:
        """Passages and dimension."""
        return self._graph.ntotal, self._graph.d

    def search(self, query: NDArray[np.float32], k: int) -> Ranking:
        """About the k passages of the highest cosine (Malkov & Yashunin 2018)."""
        self._graph.hnsw.efSearch = max(_CANDIDATES, k)
        scores, positions = self._graph.search(query[None], k)
        found = positions[0] >= 0
        order = np.lexsort((positions[0][found], -scores[0][found]))
        return Ranking(positions[0][found][order], scores[0][found][order])


def save_vectors(folder: Path, shards: Sequence[Path], count: int) -> None:
    """Joins the shards of an embedded corpus into the one file that `load_vectors` reads."""
    arrays = (load_array(shard, np.float32, 2) for shard in shards)
    dimension = load_array(shards[0], np.float32, 2).shape[1]
    if count > FLAT_UP_TO:
        import faiss

        graph = faiss.IndexHNSWFlat(dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        for array in arrays:
            graph.add(np.ascontiguousarray(array))
        faiss.write_index(graph, str(folder / _GRAPH))
        return
    joined = np.lib.format.open_memmap(folder / _VECTORS, mode="w+", dtype=np.float32, shape=(count, dimension))
    start = 0
    for array in arrays:
        joined[start : start + len(array)] = array
        start += len(array)
    joined.flush()


def load_vectors(folder: Path) -> Vectors:
    """Opens what `save_vectors` wrote: a mapped array, or a graph that is read whole.

    Raises:
        ResourceError: The file is damaged.
    """
    if not (folder / _GRAPH).exists():
        return FlatVectors(load_array(folder / _VECTORS, np.float32, 2))
    import faiss

    try:
        graph = faiss.read_index(str(folder / _GRAPH))
    except RuntimeError as error:
        raise ResourceError(f"{folder / _GRAPH} is no faiss index ({error}); build the index again.") from error
    if not isinstance(graph, faiss.IndexHNSWFlat) or graph.metric_type != faiss.METRIC_INNER_PRODUCT:
        raise ResourceError(f"{folder / _GRAPH} is no HNSW graph of inner products; build the index again.")
    return GraphVectors(graph)


class DenseRetriever(PassageRetriever):
    """Ranks passages, as `Title: text`, by the cosine of their vectors with the query's.

    A corpus' language is nothing to it: what languages it reads is the encoder's matter.

    Args:
        passages: The passages, by position.
        k: How many documents a query gets, at most.
        encoder: What embeds; without one, the shared MiniLM.
        vectors: Vectors of the same passages that the same encoder made before.
    """

    encoder: SkipValidation[EncoderLike | None] = Field(default=None, repr=False)
    vectors: SkipValidation[Any] = Field(default=None, repr=False)
    _embedder: Embedder = PrivateAttr()
    _vectors: Vectors = PrivateAttr()

    def model_post_init(self, _context: Any, /) -> None:
        """Embeds passages that come without vectors."""
        self._embedder = Embedder(self.encoder)
        self._vectors = self.vectors or FlatVectors(self._embedder.passages(self.passages))
        if self._vectors.shape[0] != len(self.passages):
            raise InvalidInput(f"{len(self.passages)} passages were given with {self._vectors.shape[0]} vectors.")

    def rank(self, query: str, k: int) -> Ranking:
        """Ranks the k passages of the highest cosine."""
        vector = self._embedder.query(query)
        if len(vector) != self._vectors.shape[1]:
            raise InvalidInput(
                f"{self._embedder.name} makes vectors of {len(vector)} numbers, the passages' have "
                f"{self._vectors.shape[1]}; give the encoder that embedded them."
            )
        return self._vectors.search(vector, k)
