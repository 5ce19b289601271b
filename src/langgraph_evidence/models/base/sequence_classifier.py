"""Any Hugging Face sequence classifier over pairs of texts, in place of a small head."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

from langgraph_evidence.models.base.batching import RowCache, token_batches
from langgraph_evidence.models.base.pretrained import read_pretrained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_BATCH_TOKENS = 4096
_CACHED_ROWS = 50_000


class SequenceClassifier:
    """A cross encoder of any size (a roberta-large scorer, an NLI model), read from safetensors only.

    Args:
        model: The transformers model.
        tokenizer: Its tokenizer.
        max_tokens: Pairs are cut to this many tokens, the longer text first.
    """

    def __init__(self, model: Any, tokenizer: Any, *, max_tokens: int = 512) -> None:
        self.model, self.tokenizer, self.max_tokens = model.eval(), tokenizer, max_tokens
        self.labels = tuple(str(model.config.id2label[index]) for index in range(model.config.num_labels))
        self._cache = RowCache(_CACHED_ROWS)
        self._lock = threading.Lock()

    @classmethod
    def load(cls, source: str | Path, *, device: str = "auto", max_tokens: int = 512) -> SequenceClassifier:
        """Loads a folder or a hub id; remote code and pickled weights are refused.

        Raises:
            MissingExtra: transformers is not installed.
            ResourceError: There is no such model, or it has no safetensors.
        """
        kind = "AutoModelForSequenceClassification"
        model, tokenizer = read_pretrained(source, kind, what="a sequence classifier", device=device)
        return cls(model, tokenizer, max_tokens=max_tokens)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, labels); batched by token budget, cached by content."""
        return self._cache.pairs(pairs, self._compute, width=len(self.labels))

    def _compute(self, pairs: list[tuple[str, str]]) -> list[NDArray[np.float32]]:
        inputs = [self.tokenizer(first, second, truncation=True, max_length=self.max_tokens) for first, second in pairs]
        rows: dict[int, NDArray[np.float32]] = {}
        for group in token_batches([len(item["input_ids"]) for item in inputs], _BATCH_TOKENS):
            batch = self.tokenizer.pad([inputs[index] for index in group], return_tensors="pt").to(self.model.device)
            with self._lock, torch.inference_mode():
                output = self.model(**batch).logits.float().cpu().numpy()
            rows |= dict(zip(group, output, strict=True))
        return [rows[index].copy() for index in range(len(pairs))]
