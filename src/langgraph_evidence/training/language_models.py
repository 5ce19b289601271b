"""The language models that are trained here, each as an adapter on a base that whoever trains it chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.training.rq_rag import NAME as RQ_RAG
from langgraph_evidence.training.rq_rag import train_rq_rag

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.training.base import TrainResult


@dataclass(frozen=True)
class LanguageModel:
    """One trained language model.

    Args:
        meaning: What it is for, in a line.
        train: Takes a data folder, a folder to write, and the keywords `base`, `records`, `given`, `device`, `resume`
            and `report`; writes a folder of the model's name there.
    """

    meaning: str
    train: Callable[..., TrainResult]


LANGUAGE_MODELS: dict[str, LanguageModel] = {
    RQ_RAG: LanguageModel("which query to ask next, and the answer from what was found (RQ-RAG)", train_rq_rag),
}
