"""Vectors of passages and queries, by the shared MiniLM or any LangChain embeddings; resumable for a large corpus."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_evidence.errors import EvidenceError, InvalidInput, ModelError, ResourceError
from langgraph_evidence.models import default_encoder
from langgraph_evidence.retrieval.storage import load_array, save_array
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.types import Passage

# Passages to a shard: seconds of work on a CPU, which is how often progress shows and all that a killed build loses.
SHARD = 256
_SOURCE = "source.txt"


@runtime_checkable
class TextEncoder(Protocol):
    """What the shared MiniLM encoder is to retrieval: texts in, vectors of shape (texts, dimension) out."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors."""
        ...


EncoderLike: TypeAlias = TextEncoder | Embeddings


class Embedder:
    """Turns passages and queries into vectors of length one.

    Args:
        source: An encoder or LangChain embeddings; without one, the shared MiniLM.

    Raises:
        InvalidInput: The source can embed nothing.
        MissingExtra: The shared MiniLM was wanted and its packages are not installed.
    """

    def __init__(self, source: EncoderLike | None = None) -> None:
        source = default_encoder() if source is None else source
        if isinstance(source, str) or not isinstance(source, TextEncoder | Embeddings):  # a str can encode itself
            raise InvalidInput(f"An encoder or LangChain Embeddings is needed, not {type(source).__name__}.")
        self.source = source

    @property
    def name(self) -> str:
        """What made the vectors; vectors of different names must not be compared."""
        source = self.source
        details = (getattr(source, key, None) for key in ("sha256", "model", "model_name"))
        return ":".join([type(source).__qualname__, *(detail for detail in details if isinstance(detail, str))])

    def passages(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """The vectors of passages as `Title: text`, shape (passages, dimension)."""
        return self._embed([passage_line(passage) for passage in passages], query=False)

    def query(self, query: str) -> NDArray[np.float32]:
        """The vector of a query, shape (dimension,)."""
        vector: NDArray[np.float32] = self._embed([query], query=True)[0]
        return vector

    def _embed(self, texts: list[str], *, query: bool) -> NDArray[np.float32]:
        try:
            if isinstance(self.source, TextEncoder):
                vectors = np.array(self.source.encode(texts), dtype=np.float32)
            elif query:
                vectors = np.asarray([self.source.embed_query(texts[0])], dtype=np.float32)
            else:
                vectors = np.asarray(self.source.embed_documents(texts), dtype=np.float32)
        except EvidenceError:
            raise
        except Exception as error:
            raise ModelError(f"{self.name} could not embed {len(texts)} texts: {error}") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelError(f"{self.name} gave no finite vectors for {len(texts)} texts, but shape {vectors.shape}.")
        lengths: NDArray[np.float32] = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors


def embed_resumably(
    passages: Sequence[Passage], embedder: Embedder, shards: Path, *, progress: Callable[[int, int], None] | None = None
) -> list[Path]:
    """Embeds a corpus into shards on the disk; shards that an interrupted build left are not computed again.

    Args:
        passages: The corpus.
        embedder: What embeds it.
        shards: The folder of the shards; those of another corpus or embedder are removed.
        progress: Called with the passages done and all passages.

    Returns:
        The shards' files, in the corpus' order.
    """
    source = _source_of(passages, embedder)
    if not (shards / _SOURCE).is_file() or (shards / _SOURCE).read_text("utf-8") != source:
        shutil.rmtree(shards, ignore_errors=True)
        shards.mkdir(parents=True)
        (shards / _SOURCE).write_text(source, "utf-8")
    files = []
    for start in range(0, len(passages), SHARD):
        part = passages[start : start + SHARD]
        path = shards / f"{start:012d}.npy"
        if not _is_whole(path, len(part)):
            unfinished = path.with_suffix(".part.npy")
            save_array(unfinished, embedder.passages(part))
            unfinished.replace(path)
        files.append(path)
        if progress:
            progress(start + len(part), len(passages))
    return files


def _source_of(passages: Sequence[Passage], embedder: Embedder) -> str:
    digest = hashlib.sha256(f"{embedder.name}\n{SHARD}\n".encode())
    for passage in passages:
        digest.update(passage_line(passage).encode() + b"\0")
    return digest.hexdigest()


def _is_whole(path: Path, count: int) -> bool:
    try:
        return path.is_file() and len(load_array(path, np.float32, 2)) == count
    except ResourceError:
        return False
