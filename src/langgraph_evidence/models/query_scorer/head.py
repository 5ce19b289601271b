"""Trained query scorers (FuRePA section 3.2.3): a listwise head over the shared encoder, or a full cross encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from langgraph_evidence.models.base import (
    Adapter,
    AdapterSpec,
    Encoder,
    load_adapter,
    open_full_model,
    shipped,
    sigmoid,
)
from langgraph_evidence.models.query_scorer.features import FEATURES, pool_features
from langgraph_evidence.models.shared import default_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.models.base import PairScorer

HEAD = "query_scorer"
LABELS = ("relevant",)
_WIDTH = 48


class QueryHead(nn.Module):
    """Two hidden layers from a passage's features (`pool_features`) to its relevance, a logit."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, 1)
        )

    def fit_scale(self, features: Tensor) -> None:
        """Takes the features' mean and deviation, (n, FEATURES), for normalising."""
        self.mean, self.scale = features.mean(0), features.std(0) + 1e-4

    def forward(self, features: Tensor) -> Tensor:
        """Logits, (...), of features (..., FEATURES)."""
        return torch.as_tensor(self.layers((features - self.mean) / self.scale).squeeze(-1))


class ListwiseQueryScorer:
    """Scores each passage by how it stands among all passages and queries of the round, over the shared encoder.

    The paper's scorer reads one (query, passage) at a time with a roberta-large (`CrossEncoderScorer`); at a hundredth
    of the time this one sees what a reciprocal rank depends on: the other passages.

    Args:
        encoder: The shared encoder.
        adapter: The trained head.
    """

    trained = True

    def __init__(self, encoder: Encoder, adapter: Adapter) -> None:
        self._encoder, self._adapter = encoder, adapter.freeze(encoder)

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> ListwiseQueryScorer:
        """Opens the shipped head, or an adapter file.

        Raises:
            ResourceError: The file is missing, damaged or for another base or task.
        """
        base = encoder or default_encoder()
        path = shipped(HEAD) if source is None else Path(source)
        return cls(base, load_adapter(base, path, HEAD, labels=LABELS, build_head=_build))

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """Scores s_j in [0, 1] (eq. 7), one row a query."""
        if not queries or not passages:
            return [[] for _ in queries]
        features = torch.from_numpy(pool_features(self._encoder, queries, passages)).to(self._encoder.device)
        with torch.inference_mode():
            scores: list[list[float]] = torch.sigmoid(self._adapter.head(features)).tolist()
        return scores


class CrossEncoderScorer:
    """The paper's scorer: s_j = sigmoid(H_j[CLS] w_s) of a full-size cross encoder over "query [SEP] passage" (eq. 7).

    Args:
        model: With one output, or two of which the second is the relevant one.
    """

    trained = True

    def __init__(self, model: PairScorer) -> None:
        self._model = model

    @classmethod
    def load(cls, source: str | Path, *, device: str = "auto") -> CrossEncoderScorer:
        """Loads a folder or hub id of a sequence classifier, or the URL of a server (see `open_full_model`)."""
        return cls(open_full_model(source, device=device))

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """Scores s_j in [0, 1], one row a query.

        Raises:
            ModelError: A scoring server failed.
        """
        if not queries or not passages:
            return [[] for _ in queries]
        logits = self._model.logits([(query, passage) for query in queries for passage in passages])
        margin = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
        scores = sigmoid(margin)
        return [[float(value) for value in row] for row in scores.reshape(len(queries), len(passages))]


def _build(_: AdapterSpec) -> QueryHead:
    return QueryHead()
