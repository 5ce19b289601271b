"""The shared sentence encoder: one resident base, many adapters.

A head is an `Adapter` (see `adapters.py`): low-rank additions to the base, or top layers of its own, and a small
module over them. To write one,
see `PairHead` for pairs of texts, or give `Adapter` any module of yours; train it with `training.loop.train`, save it
with `save_adapter` and read it back with `load_adapter`. `Encoder.run` applies an adapter to tokenised inputs in
batches; nothing is copied or switched, so threads may use different heads of one encoder at once.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base.batching import RowCache, content_key, token_batches
from langgraph_evidence.models.base.bert import Bert, BertConfig, bert_from_tensors, to_precision
from langgraph_evidence.models.base.device import DTYPES, check_precision, fastest_precision, pick_device
from langgraph_evidence.models.base.tokenizer import TextTokenizer
from langgraph_evidence.models.base.weights import find_base, read_json, read_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from langgraph_evidence.models.base.bert import Change
    from langgraph_evidence.models.base.device import Precision
    from langgraph_evidence.models.base.tokenizer import Batch, Tokens

# What sentence-transformers cuts this model's texts to; longer ones were never seen when it was trained.
_TEXT_TOKENS = 256
_BATCH_TOKENS, _BATCH_TOKENS_GPU = 2048, 65536
_CACHED_ROWS = 20_000


class Encoder:
    """A BERT sentence encoder with its tokenizer.

    Args:
        bert: The base.
        tokenizer: Its tokenizer.
        sha256: Hash of the base's weights; adapters are bound to it.
        device: Where to compute.
        precision: Type of the matrix products.
    """

    def __init__(
        self,
        bert: Bert,
        tokenizer: TextTokenizer,
        sha256: str,
        *,
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        check_precision(precision)
        self.device = pick_device(device)
        self.precision = fastest_precision(self.device) if precision == "auto" else precision
        self._budget = _BATCH_TOKENS if self.device.type == "cpu" else _BATCH_TOKENS_GPU
        self.bert, self.tokenizer, self.sha256 = bert, tokenizer, sha256
        to_precision(self.bert, DTYPES[self.precision])
        self.bert.to(self.device).eval()
        self.cache = RowCache(_CACHED_ROWS)
        self._lock = threading.Lock()

    @classmethod
    def load(cls, source: str | Path | None = None, *, device: str = "auto", precision: Precision = "auto") -> Encoder:
        """Loads the base from a folder, a hub id, or (without a source) wherever `find_base` finds the default one.

        Raises:
            ResourceError: The files are missing, altered, or describe another kind of model.
            MissingExtra: The hub was needed and its client is not installed.
        """
        files = find_base(source)
        config = BertConfig.from_mapping(read_json(files.config))
        tokenizer = TextTokenizer(files.tokenizer)
        tensors, _ = read_tensors(files.weights)
        bert = bert_from_tensors(config, tensors)
        return cls(bert, tokenizer, files.sha256, device=device, precision=precision)

    @property
    def config(self) -> BertConfig:
        """The base's shape."""
        return self.bert.config

    @property
    def dimension(self) -> int:
        """Width of a vector."""
        return self.config.hidden_size

    @property
    def text_tokens(self) -> int:
        """How much of a text `encode` reads."""
        return min(_TEXT_TOKENS, self.config.max_position_embeddings)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Sentence vectors: mean of the last hidden states, of length one; shape (texts, dimension).

        Texts are sorted by length, batched by token budget, and cached by content; a long text is cut.
        """
        if isinstance(texts, str):
            raise InvalidInput("encode was given one string; it takes a sequence of texts.")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)

        def compute(indexes: list[int]) -> list[NDArray[np.float32]]:
            inputs = self.tokenizer.singles([texts[index] for index in indexes], self.text_tokens)
            return self.run(inputs, _pooled)

        return np.stack(self.cache.rows([content_key(text) for text in texts], compute))

    def hidden(self, batch: Batch, change: Change | None = None) -> Tensor:
        """Last hidden states, float32, (batch, length, dimension); takes gradients for the adapter when they are on."""
        hidden: Tensor = self.bert(batch.ids, batch.types, batch.mask, change)
        return hidden

    def run(
        self, inputs: Sequence[Tokens], head: Callable[[Tensor, Batch], Tensor], change: Change | None = None
    ) -> list[NDArray[np.float32]]:
        """Applies the base, as an adapter changes it, and a head to inputs, in batches.

        Args:
            inputs: Tokenised texts or pairs.
            head: Maps hidden states (batch, length, dimension) and the batch to (batch, ...).
            change: The adapter's additions or layers.

        Returns:
            The head's output for each input, in the order given.
        """
        rows: list[NDArray[np.float32] | None] = [None] * len(inputs)
        for group in token_batches([len(tokens) for tokens in inputs], self._budget):
            batch = self.tokenizer.collate([inputs[index] for index in group], self.device)
            with self._lock, torch.inference_mode():
                output = head(self.hidden(batch, change), batch).float().cpu().numpy()
            for index, row in zip(group, output, strict=True):
                rows[index] = row.copy()
        return [row for row in rows if row is not None]


def mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean of the hidden states at tokens, (batch, dimension)."""
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weight).sum(1) / weight.sum(1)


def _pooled(hidden: Tensor, batch: Batch) -> Tensor:
    return F.normalize(mean_pool(hidden, batch.mask), dim=-1)
