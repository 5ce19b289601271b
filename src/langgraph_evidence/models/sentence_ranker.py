"""Which sentences bear on a question or a claim: a cross encoder over (query, sentence)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.pair_source import PairScorer, open_pair_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from langgraph_evidence.models.encoder import Encoder

HEAD = "sentence_ranker"
LABELS = ("relevant",)


class SentenceRanker:
    """Ranks sentences for a question or claim; a sentence is best given as `Title: sentence`.

    Args:
        model: Scores (query, sentence) pairs with one output.
    """

    def __init__(self, model: PairScorer) -> None:
        self._model = model

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> SentenceRanker:
        """Opens the shipped ranker, an adapter file, or a full-size cross encoder or its server (`open_pair_model`)."""
        return cls(open_pair_model(HEAD, source, encoder=encoder, labels=LABELS))

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        """Probability of each sentence being evidence for the query.

        Raises:
            ModelError: A scoring server failed.
        """
        logits = self._model.logits([(query, sentence) for sentence in sentences])[:, 0]
        return [float(value) for value in 1 / (1 + np.exp(-logits))]

    def rank(self, query: str, sentences: Sequence[str], *, k: int | None = None) -> list[int]:
        """Indexes of the k best sentences, or of all, best first; equal ones in their order."""
        scores = self.score(query, sentences)
        return sorted(range(len(scores)), key=lambda index: -scores[index])[:k]
