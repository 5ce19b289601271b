"""The reader's head: where an answer starts and ends, and whether it is a span, yes, no, or not in the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from langgraph_evidence.models.base import Batch

KINDS = ("span", "yes", "no", "none")
_OUTSIDE = -1e4


class ReaderHead(nn.Module):
    """Start and end logits of every token, and logits of `KINDS`.

    The kind is told from [CLS] beside the hidden states at the likely answer: whether the evidence answers the question
    is whether that very place does.

    Args:
        width: The base's dimension.
        separator: Id of [SEP], which is no place of an answer.
    """

    def __init__(self, width: int, separator: int) -> None:
        super().__init__()
        self.separator = separator
        self.span = nn.Linear(width, 2)
        self.mix = nn.Linear(2 * width, width)
        self.kind = nn.Linear(width, len(KINDS))

    def parts(self, hidden: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Start logits (batch, length), end logits (batch, length), kind logits (batch, kinds)."""
        passage = batch.mask & (batch.types == 1) & (batch.ids != self.separator)
        spans = self.span(hidden).masked_fill(~passage.unsqueeze(-1), _OUTSIDE)
        weight = spans.softmax(1).mean(2, keepdim=True)
        features = torch.cat([hidden[:, 0], (hidden * weight).sum(1)], dim=-1)
        return spans[..., 0], spans[..., 1], torch.as_tensor(self.kind(torch.tanh(self.mix(features))))

    def forward(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Kind, start and end logits side by side, (batch, kinds + 2 length)."""
        start, end, kind = self.parts(hidden, batch)
        return torch.cat([kind, start, end], dim=-1)
