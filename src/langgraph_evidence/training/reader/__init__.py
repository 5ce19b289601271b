"""The reader: examples (`data`, `mixture`, `generated_questions`), answers found in them (`alignment`), figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.training.reader.evaluate import evaluate_reader
    from langgraph_evidence.training.reader.train import ReaderPlan, train_reader

__all__ = [
    "ReaderPlan",
    "evaluate_reader",
    "train_reader",
]

__getattr__ = lazily(
    __name__,
    {
        "evaluate": "evaluate_reader",
        "train": "ReaderPlan train_reader",
    },
)
