"""Which sentences bear on a question or a claim: their similarity, and what reading the two together adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.base import (
    Adapter,
    Encoder,
    PairModel,
    PairScorer,
    adapter_file,
    load_adapter,
    open_pair_model,
    sigmoid,
)
from langgraph_evidence.models.shared import default_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

HEAD = "sentence_ranker"
LABELS = ("relevant",)
# Chosen on fold 7, where the ranking hardly changes with it. Training on top of the cosine ranked worse.
_COSINE_WEIGHT = 3.0


class RankerModel:
    """Scores (query, sentence) pairs by a cross encoder and by the cosine of their vectors, which knows other things.

    Args:
        encoder: The shared encoder.
        adapter: The cross encoder's.
    """

    labels = LABELS

    def __init__(self, encoder: Encoder, adapter: Adapter) -> None:
        self.encoder, self._pairs = encoder, PairModel(encoder, adapter)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, 1)."""
        query, sentence = (self.encoder.encode([pair[side] for pair in pairs]) for side in (0, 1))
        cosine: NDArray[np.float32] = (query * sentence).sum(1, keepdims=True)
        return self._pairs.logits(pairs) + np.float32(_COSINE_WEIGHT) * cosine


class SentenceRanker:
    """Ranks sentences for a question or claim; a sentence is best given as `Title: sentence`.

    Args:
        model: Scores (query, sentence) pairs with one output.
    """

    def __init__(self, model: PairScorer) -> None:
        self._model = model

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> SentenceRanker:
        """Opens the shipped ranker, an adapter file, or a full-size cross encoder or its server.

        Raises:
            ResourceError: The source is missing, damaged, or for another task.
            InvalidInput: The URL is of no known protocol.
            MissingExtra: It needs a package that is not installed.
        """
        path = adapter_file(HEAD, source)
        if path is None:
            return cls(open_pair_model(HEAD, str(source), labels=LABELS))
        base = encoder or default_encoder()
        return cls(RankerModel(base, load_adapter(base, path, HEAD, labels=LABELS)))

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        """Probability of each sentence being evidence for the query.

        Raises:
            ModelError: A scoring server failed.
        """
        logits = self._model.logits([(query, sentence) for sentence in sentences])[:, 0]
        return [float(value) for value in sigmoid(logits)]

    def rank(self, query: str, sentences: Sequence[str], *, k: int | None = None) -> list[int]:
        """Indexes of the k best sentences, or of all, best first; equal ones in their order."""
        scores = self.score(query, sentences)
        return sorted(range(len(scores)), key=lambda index: -scores[index])[:k]
