"""What every retriever of this package shares: it ranks passages by position and hands out LangChain documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import Field, SkipValidation
from typing_extensions import override

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from numpy.typing import NDArray


class Ranking(NamedTuple):
    """Passages best first: their positions in the corpus, shape (n,), and their scores, shape (n,)."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float32]


class PassageRetriever(BaseRetriever):
    """Base of the retrievers: subclasses rank, this class makes documents.

    A document has the passage's id and text; its metadata hold `title`, `score` and, for a sentence or a block of
    words, `parent` and `position`. `k` may be given to a single call: `retriever.invoke(query, k=3)`.

    Args:
        passages: The passages, by position.
        k: How many documents a query gets, at most.
    """

    passages: SkipValidation[Sequence[Passage]] = Field(repr=False)
    k: int = Field(default=5, ge=1)

    @abstractmethod
    def rank(self, query: str, k: int) -> Ranking:
        """Ranks the best k passages or fewer; equal scores stand in the corpus' order."""

    @override
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        return self._documents(query, self.k if k is None else k)

    @override
    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        return await run_in_executor(None, self._documents, query, self.k if k is None else k)

    def _documents(self, query: str, k: int) -> list[Document]:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InvalidInput(f"k was given {k!r}; it takes a whole number of at least 1.")
        if not query.strip():
            return []
        ranking = self.rank(query, min(k, len(self.passages)))
        scored = zip(ranking.positions.tolist(), ranking.scores.tolist(), strict=True)
        return [_document(self.passages[position], score) for position, score in scored]


def _document(passage: Passage, score: float) -> Document:
    known = {key: value for key, value in passage.items() if key not in {"id", "text"}}
    return Document(id=passage["id"], page_content=passage["text"], metadata={**known, "score": score})


def best(scores: NDArray[np.float32], k: int) -> Ranking:
    """The k highest of sparse scores, zeros left out; equal scores in the corpus' order.

    Only the passages that a query touches are partitioned: over scores that are mostly zero `argpartition` has a long
    tail.
    """
    touched = np.flatnonzero(scores)
    ranking = highest(scores[touched], k)
    return Ranking(touched[ranking.positions], ranking.scores)


def highest(scores: NDArray[np.float32], k: int) -> Ranking:
    """The k highest scores; equal scores in the corpus' order."""
    positions = np.arange(len(scores))
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        positions = np.flatnonzero(scores >= least)
    order = np.lexsort((positions, -scores[positions]))[:k]
    return Ranking(positions[order], scores[positions[order]])
