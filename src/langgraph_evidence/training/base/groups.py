"""Training a pair head on groups: a query, the texts that should come first, and those that should not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from langgraph_evidence.models.base import Adapter, Encoder


@dataclass(frozen=True)
class Group:
    """One query and its texts, the good one first.

    Args:
        source: The data set.
        query: The first part of every pair.
        texts: The second parts; texts[0] is to be preferred to all others.
    """

    source: str
    query: str
    texts: tuple[str, ...]


def group_step(
    encoder: Encoder, adapter: Adapter, groups: Sequence[Group], *, absolute: float
) -> tuple[list[int], Callable[[list[int]], Tensor]]:
    """Lengths and step for `training.loop.train`.

    The loss is the cross entropy of choosing the good text among its group (for two texts: Bradley-Terry,
    -log sigmoid(r_good - r_bad)), and `absolute` times the binary cross entropy of every text by itself, which makes
    the scores comparable between queries.
    """
    limit = adapter.spec.max_tokens
    inputs = [encoder.tokenizer.pairs([(group.query, text) for text in group.texts], limit) for group in groups]
    lengths = [sum(len(tokens) for tokens in item) for item in inputs]

    def step(indexes: list[int]) -> Tensor:
        flat = [tokens for index in indexes for tokens in inputs[index]]
        outputs = adapter.outputs(encoder, encoder.tokenizer.collate(flat, encoder.device))[:, 0]
        rows = torch.split(outputs, [len(inputs[index]) for index in indexes])
        choice = torch.stack([-F.log_softmax(row, dim=0)[0] for row in rows]).mean()
        if not absolute:
            return choice
        truth = torch.cat([torch.eye(1, len(row), device=row.device)[0] for row in rows])
        return choice + absolute * F.binary_cross_entropy_with_logits(outputs, truth)

    return lengths, step
