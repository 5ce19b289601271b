"""Does a premise entail a hypothesis: cited passages and a sentence of the answer, one interface over many models."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base import RowCache, load_adapter, shipped, softmax
from langgraph_evidence.models.entailment.head import LABELS3, OUTPUTS, HeadScorer
from langgraph_evidence.models.entailment.served import ServedEntailment
from langgraph_evidence.models.remote import PairServer, is_url
from langgraph_evidence.models.shared import default_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Encoder, PairScorer

_CACHED_PAIRS = 50_000
_EVEN = 0.5


class Entailment:
    """Tells whether premises entail hypotheses; thread-safe, every pair computed once.

    A premise longer than the model reads is cut to the sentences that matter for the hypothesis. A hypothesis that is a
    question counts as entailed where the premise answers it.

    Args:
        scorer: The model; what its columns are called: `entailment` and others, see `labels.NAMES`.
        threshold: The probability from which `entails` says yes.
    """

    def __init__(self, scorer: PairScorer, *, threshold: float = _EVEN) -> None:
        if "entailment" not in scorer.labels:
            raise InvalidInput(
                f"The labels {scorer.labels} have no 'entailment'; give labels= in the model's own order."
            )
        if not 0 < threshold < 1:
            raise InvalidInput(f"The threshold {threshold} is not between 0 and 1.")
        self.scorer, self.threshold = scorer, threshold
        self._column = scorer.labels.index("entailment")
        self._cache = RowCache(_CACHED_PAIRS)
        self._lock = threading.Lock()

    @classmethod
    def load(
        cls, source: str | Path | None = None, *, labels: Sequence[str] | None = None, encoder: Encoder | None = None
    ) -> Entailment:
        """Loads an entailment model; nothing is ever unpickled.

        Args:
            source: Nothing for the shipped head; a `.safetensors` adapter of the shared encoder; a folder or hub id of
                a sequence-classification NLI model or of a T5 that speaks TRUE's `premise: ... hypothesis: ...`; or the
                URL of a server that scores (see `models.remote`).
            labels: The label of each output in the model's own order, where its config does not name them.
            encoder: The base of an adapter; the process's shared one if not given.

        Raises:
            ResourceError: The weights are missing, damaged, or of another base.
            InvalidInput: The label map has no entailment, or names are not understood.
        """
        if is_url(source):
            return cls(ServedEntailment(PairServer(str(source)), labels=labels))
        if source is None or str(source).endswith(".safetensors"):
            return cls._adapter(shipped("entailment") if source is None else Path(source), encoder, labels)
        from langgraph_evidence.models.entailment.full_size import full_scorer

        return cls(full_scorer(str(source), labels))

    @classmethod
    def _adapter(cls, path: Path, encoder: Encoder | None, labels: Sequence[str] | None) -> Entailment:
        if labels is not None and tuple(labels) != OUTPUTS:
            raise InvalidInput(f"An adapter has the labels {OUTPUTS}; labels={tuple(labels)} cannot change them.")
        base = encoder or default_encoder()
        adapter = load_adapter(base, path, "entailment", labels=OUTPUTS)
        threshold = adapter.spec.details.get("threshold", _EVEN)
        if not isinstance(threshold, float) or not 0 < threshold < 1:
            raise ResourceError(
                f"The adapter {path} has the threshold {threshold!r}, not one between 0 and 1. Retrain it."
            )
        return cls(HeadScorer(base, adapter), threshold=threshold)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """P(entailed) of each (premise, hypothesis), shape (pairs,); no pairs give an empty array.

        Raises:
            InvalidInput: Something else than pairs of texts was given.
            ModelError: A scoring server failed.
        """
        return self._rows(pairs)[:, self._column]

    def labels3(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """P(entailment, neutral, contradiction), shape (pairs, 3).

        Raises:
            InvalidInput: The model only tells entailed from not entailed.
        """
        missing = [name for name in LABELS3 if name not in self.scorer.labels]
        if missing:
            raise InvalidInput(f"This model has the labels {self.scorer.labels} and no {missing}; use probabilities().")
        return self._rows(pairs)[:, [self.scorer.labels.index(name) for name in LABELS3]]

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        with self._lock:
            rows = self._cache.pairs([_pair(pair) for pair in pairs], self._compute, width=len(self.scorer.labels))
        return rows.astype(np.float64)

    def _compute(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float32]]:
        found = softmax(self.scorer.logits(pairs))
        if found.shape != (len(pairs), len(self.scorer.labels)) or not np.isfinite(found).all():
            raise ResourceError(f"The entailment model gave {found.shape} values for {len(pairs)} pairs, or none.")
        return list(found)


def _pair(value: tuple[str, str]) -> tuple[str, str]:
    if isinstance(value, str) or len(value) != 2 or not all(isinstance(text, str) for text in value):
        raise InvalidInput(f"Entailment takes (premise, hypothesis) pairs of texts; this was given: {value!r:.200}")
    premise, hypothesis = value
    if not hypothesis.strip():
        raise InvalidInput("The hypothesis is empty; give the sentence that is to be checked.")
    return premise, hypothesis
