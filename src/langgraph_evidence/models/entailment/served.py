"""Entailment by a server that scores pairs (see `models.remote`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.entailment.features import packed_pairs
from langgraph_evidence.models.entailment.labels import read_label, read_labels
from langgraph_evidence.models.remote import SINGLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.remote import Outputs, PairServer

_ENTAILED = ("entailment", "not_entailment")


class ServedEntailment:
    """Asks a server for the label probabilities of pairs.

    Args:
        server: Where to ask; one that names its model's outputs, or whose model's only output is entailment.
        labels: The label of each output in the model's order, for a server that calls them LABEL_0, LABEL_1, ...

    Raises:
        InvalidInput: The labels have no entailment, or are given for a server that names no outputs.
    """

    def __init__(self, server: PairServer, *, labels: Sequence[str] | None = None) -> None:
        named = server.protocol == "predict"
        if labels is not None and not named:
            raise InvalidInput(f"The server at {server.url} gives one score a pair; labels= cannot be given for it.")
        self.labels = read_labels(labels or ("entailment", "neutral", "contradiction")) if named else _ENTAILED
        self._server = server

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Logarithms of the label probabilities, (pairs, labels).

        Raises:
            ModelError: The server cannot be reached, refuses, answers something else, or has other labels.
        """
        rows = [self._row(outputs) for outputs in self._server.probabilities(packed_pairs(pairs))]
        with np.errstate(divide="ignore"):
            logits: NDArray[np.float32] = np.log(np.asarray(rows, dtype=np.float32).reshape(-1, len(self.labels)))
        return logits

    def _row(self, outputs: Outputs) -> list[float]:
        if SINGLE in outputs:
            return [outputs[SINGLE], 1 - outputs[SINGLE]]
        numbered = {f"LABEL_{place}": name for place, name in enumerate(self.labels)}
        try:
            named = {numbered.get(name) or read_label(name): value for name, value in outputs.items()}
        except InvalidInput:
            named = {}
        if set(named) != set(self.labels):
            raise ModelError(
                f"The server at {self._server.url} gives the labels {sorted(outputs)}; {list(self.labels)} are "
                "expected. Give labels= in the model's own order."
            )
        return [named[name] for name in self.labels]
