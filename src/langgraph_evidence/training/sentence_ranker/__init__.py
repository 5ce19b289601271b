"""The sentence ranker: lists and groups of sentences (`data`), training, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.training.sentence_ranker.evaluate import measure_sentence_ranker
    from langgraph_evidence.training.sentence_ranker.train import train_sentence_ranker

__all__ = [
    "measure_sentence_ranker",
    "train_sentence_ranker",
]

__getattr__ = lazily(
    __name__,
    {
        "evaluate": "measure_sentence_ranker",
        "train": "train_sentence_ranker",
    },
)
