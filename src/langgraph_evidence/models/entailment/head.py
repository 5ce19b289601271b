"""The shipped entailment model: top layers of its own over the shared encoder, read once for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from langgraph_evidence.models.entailment.features import is_question, packed_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from langgraph_evidence.models.base import Adapter, Encoder

LABELS3 = ("entailment", "neutral", "contradiction")
OUTPUTS = (*LABELS3, "answers")
"""The adapter's outputs; `answers` is the logit that a premise answers a hypothesis that is a question."""

PREMISE_WORDS = 130
"""A longer premise is packed to so many words: as many as in training, and better on fold 7 than 180 or 80."""

MAX_TOKENS = 320


def label_logits(logits: Tensor, asks: Tensor) -> Tensor:
    """Logits of entailment, neutral and contradiction, (batch, 3); neutral means "not answered" for a question.

    Args:
        logits: (batch, outputs).
        asks: Whether the hypothesis is a question, (batch,).
    """
    states, answered = logits[:, : len(LABELS3)], logits[:, len(LABELS3)]
    never = torch.full_like(answered, float("-inf"))
    questions = torch.stack([answered, torch.zeros_like(answered), never], dim=-1)
    return torch.where(asks.unsqueeze(-1), questions, states)


class HeadScorer:
    """The shipped kind of entailment model: an adapter of the shared encoder, a plain cross-encoder.

    Premise and hypothesis attend to each other in every layer, so a premise that comes with two hypotheses is read
    twice; only the same pair is not read again (`Entailment` keeps its result).

    Args:
        encoder: The base.
        adapter: Its head gives `OUTPUTS`.
    """

    labels: tuple[str, ...] = LABELS3

    def __init__(self, encoder: Encoder, adapter: Adapter) -> None:
        self._encoder, self._adapter = encoder, adapter.freeze(encoder)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """See `label_logits`, (pairs, 3)."""
        packed = packed_pairs(pairs, max_words=PREMISE_WORDS)
        inputs = self._encoder.tokenizer.pairs(packed, self._adapter.spec.max_tokens)
        rows = torch.from_numpy(np.stack(self._encoder.run(inputs, self._adapter.head, self._adapter.change)))
        asks = torch.tensor([is_question(text) for _, text in pairs])
        found: NDArray[np.float32] = label_logits(rows, asks).numpy()
        return found
