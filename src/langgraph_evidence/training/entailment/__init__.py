"""The entailment head: its pairs (`data`), its training, its table beside what needs no training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.training.entailment.evaluate import evaluate_entailment
    from langgraph_evidence.training.entailment.train import EntailmentOptions, train_entailment

__all__ = [
    "EntailmentOptions",
    "evaluate_entailment",
    "train_entailment",
]

__getattr__ = lazily(
    __name__,
    {
        "evaluate": "evaluate_entailment",
        "train": "EntailmentOptions train_entailment",
    },
)
