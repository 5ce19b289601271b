"""Opens whatever scores pairs of texts: a shipped or trained adapter, a full-size classifier, or a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.adapters import PairModel, load_adapter, shipped
from langgraph_evidence.models.encoder import Encoder, default_encoder
from langgraph_evidence.models.http import is_url
from langgraph_evidence.models.pair_server import PairServer, ServedPairs
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
        source: An adapter's safetensors file, a folder or hub id of a sequence classifier, or the URL of a server (see
            `pair_server`); without it the shipped adapter.
        encoder: The base of an adapter; the process's shared one when not given.
        labels: The outputs it must have; a full-size model must have as many.

    Raises:
        ResourceError: The source is missing, damaged, or for another task.
        InvalidInput: The URL is of no known protocol.
        MissingExtra: It needs a package that is not installed.
    """
    path = adapter_file(head, source)
    if path is not None:
        base = encoder or default_encoder()
        return PairModel(base, load_adapter(base, path, head, labels=labels))
    model = open_full_model(str(source))
    if len(model.labels) != len(labels):
        raise ResourceError(
            f"{str(source)!r} has the outputs {list(model.labels)}; {head} needs {len(labels)} ({', '.join(labels)})."
        )
    return model


def adapter_file(head: str, source: str | Path | None) -> Path | None:
    """The file of a head's adapter, without a source the shipped one; None where the source is something else."""
    if source is None:
        return shipped(head)
    return None if is_url(source) or Path(source).suffix != ".safetensors" else Path(source)


def open_full_model(source: str | Path, *, device: str = "auto") -> ServedPairs | SequenceClassifier:
    """Opens a server by its URL, or a sequence classifier by its folder or hub id.

    Raises:
        ResourceError: There is no such model.
        InvalidInput: The URL is of no known protocol.
        MissingExtra: transformers is not installed.
    """
    return ServedPairs(PairServer(str(source))) if is_url(source) else SequenceClassifier.load(source, device=device)
