"""The baseline that other LangChain projects use for BM25: rank_bm25's Okapi, all of it in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field, PrivateAttr

from langgraph_evidence.retrieval.bm25 import language_of, terms_of
from langgraph_evidence.retrieval.retriever import PassageRetriever, Ranking, highest
from langgraph_evidence.text import Language


class OkapiRetriever(PassageRetriever):
    """Ranks passages, title and text, with rank_bm25; it scores every passage for every query.

    Args:
        passages: The passages, by position.
        k: How many documents a query gets, at most.
        k1: Term-frequency saturation; rank_bm25's own value.
        b: Length normalisation; rank_bm25's own value.
        language: The code of the passages' language; without one, their corpus' own, English where it has none.
    """

    k1: float = Field(default=1.5, ge=0)
    b: float = Field(default=0.75, ge=0, le=1)
    language: str | None = None
    _language: Language = PrivateAttr()
    _engine: Any = PrivateAttr()

    def model_post_init(self, _context: Any, /) -> None:
        """Counts the terms of the passages."""
        from rank_bm25 import BM25Okapi

        # rank_bm25 divides by the number of distinct terms and by the mean length.
        self._language = language_of(self.passages, self.language)
        self.language = self._language.code
        terms = [found or [""] for found in terms_of(self.passages, self._language)]
        self._engine = BM25Okapi(terms, k1=self.k1, b=self.b)

    def rank(self, query: str, k: int) -> Ranking:
        """Ranks the k passages of the highest score, as rank_bm25 does: also those without a term of the query."""
        return highest(np.asarray(self._engine.get_scores(self._language.words(query)), dtype=np.float32), k)
