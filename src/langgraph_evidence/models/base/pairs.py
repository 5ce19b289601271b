"""Pairs of texts scored: what a head over the shared encoder, a full-size classifier and a server have in common.

A small head's place can be taken by any sequence classifier, by folder or hub id, or by a server (`models.remote`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from langgraph_evidence.errors import ModelError, ResourceError
from langgraph_evidence.models.base.adapters import shipped
from langgraph_evidence.models.base.batching import RowCache
from langgraph_evidence.models.base.sequence_classifier import SequenceClassifier
from langgraph_evidence.models.remote import PairServer, is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.remote import Outputs, Pair

_CACHED_ROWS = 50_000
# The last probabilities before 0 and 1 that single precision tells apart from them.
_SUREST = 1e-7
_UNNAMED = {"LABEL_0", "LABEL_1"}


class PairScorer(Protocol):
    """Scores pairs of texts."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are called."""
        ...

    def logits(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, labels): their softmax, or of a single one the logistic function, are probabilities."""
        ...


class ServedPairs:
    """A `PairScorer` behind a server, cached by content.

    Args:
        server: With a model of one output, or of two unnamed ones (`LABEL_0` and `LABEL_1`) of which the second is the
            one that counts.
    """

    labels = ("relevant",)

    def __init__(self, server: PairServer) -> None:
        self._server, self._cache = server, RowCache(_CACHED_ROWS)

    def logits(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Log-odds of the probabilities, (pairs, 1).

        Raises:
            ModelError: The server cannot be reached, refuses, answers something else, or has other outputs.
        """
        return self._cache.pairs(pairs, self._compute, width=1)

    def _compute(self, pairs: Sequence[Pair]) -> list[NDArray[np.float32]]:
        rows = self._server.probabilities(pairs)
        return [np.array([self._log_odds(row)], dtype=np.float32) for row in rows]

    def _log_odds(self, row: Outputs) -> float:
        if len(row) != 1 and set(row) != _UNNAMED:
            raise ModelError(
                f"The server at {self._server.url} has a model with the outputs {sorted(row)}. "
                f"Serve one with a single output, or with {' and '.join(sorted(_UNNAMED))}."
            )
        probability = row["LABEL_1"] if len(row) > 1 else next(iter(row.values()))
        sure = min(max(probability, _SUREST), 1 - _SUREST)
        return float(np.log(sure / (1 - sure)))


def adapter_file(head: str, source: str | Path | None) -> Path | None:
    """The file of a head's adapter, without a source the shipped one; None where the source is something else."""
    if source is None:
        return shipped(head)
    return None if is_url(source) or Path(source).suffix != ".safetensors" else Path(source)


def open_full_model(source: str | Path, *, device: str = "auto") -> PairScorer:
    """Opens a server by its URL (see `PairServer`), or a sequence classifier by its folder or hub id.

    Raises:
        ResourceError: There is no such model.
        InvalidInput: The URL is of no known protocol.
        MissingExtra: transformers is not installed.
    """
    return ServedPairs(PairServer(str(source))) if is_url(source) else SequenceClassifier.load(source, device=device)


def open_pair_model(head: str, source: str | Path, *, labels: Sequence[str]) -> PairScorer:
    """Opens a full-size model (see `open_full_model`) that has as many outputs as a head.

    Args:
        head: The task: `sentence_ranker`, `progress_reward`, ...
        source: A folder or hub id of a sequence classifier, or the URL of a server.
        labels: The head's outputs.

    Raises:
        ResourceError: The model is missing, or has another number of outputs.
        InvalidInput: The URL is of no known protocol.
        MissingExtra: transformers is not installed.
    """
    model = open_full_model(source)
    if len(model.labels) != len(labels):
        raise ResourceError(
            f"{str(source)!r} has the outputs {list(model.labels)}; {head} needs {len(labels)} ({', '.join(labels)})."
        )
    return model
