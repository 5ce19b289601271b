"""Opens whatever scores pairs of texts in a small head's place: a full-size classifier, or a server of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base.adapters import shipped
from langgraph_evidence.models.base.sequence_classifier import SequenceClassifier
from langgraph_evidence.models.remote.client import is_url
from langgraph_evidence.models.remote.pair_server import PairServer, ServedPairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class PairScorer(Protocol):
    """Scores pairs of texts."""

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, outputs)."""
        ...


def adapter_file(head: str, source: str | Path | None) -> Path | None:
    """The file of a head's adapter, without a source the shipped one; None where the source is something else."""
    if source is None:
        return shipped(head)
    return None if is_url(source) or Path(source).suffix != ".safetensors" else Path(source)


def open_full_model(source: str | Path, *, device: str = "auto") -> ServedPairs | SequenceClassifier:
    """Opens a server by its URL (see `pair_server`), or a sequence classifier by its folder or hub id.

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
