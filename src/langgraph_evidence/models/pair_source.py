"""Opens whatever scores pairs of texts: a shipped or trained adapter, or a full-size classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.adapters import PairModel, load_adapter, shipped
from langgraph_evidence.models.encoder import Encoder, default_encoder
from langgraph_evidence.models.sequence_classifier import SequenceClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class PairScorer(Protocol):
    """Scores pairs of texts."""

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, outputs)."""
        ...


def open_pair_model(
    head: str, source: str | Path | None = None, *, encoder: Encoder | None = None, labels: Sequence[str]
) -> PairScorer:
    """Opens a head.

    Args:
        head: The task: `sentence_ranker`, `progress_reward`, ...
        source: An adapter's safetensors file, or a folder or hub id of a sequence classifier; without it the shipped
            adapter.
        encoder: The base of an adapter; the process's shared one when not given.
        labels: The outputs it must have; a full-size model must have as many.

    Raises:
        ResourceError: The source is missing, damaged, or for another task.
        MissingExtra: It needs a package that is not installed.
    """
    path = shipped(head) if source is None else Path(source)
    if path.suffix == ".safetensors":
        base = encoder or default_encoder()
        return PairModel(base, load_adapter(base, path, head, labels=labels))
    model = SequenceClassifier.load(path if path.exists() else str(source))
    if len(model.labels) != len(labels):
        raise ResourceError(
            f"{str(source)!r} has the outputs {list(model.labels)}; {head} needs {len(labels)} ({', '.join(labels)})."
        )
    return model
