"""The language models that are trained here, each as an adapter on a base that whoever trains it chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.training.rq_rag import NAME as RQ_RAG
from langgraph_evidence.training.rq_rag import records_by_model, records_of_data, train_rq_rag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langgraph_evidence.training.base import TrainResult


@dataclass(frozen=True)
class Records:
    """How a language model's training records are made.

    Args:
        of_data: Of a data folder alone: takes it, the file to write, and options as words; tells what was made.
        by_annotator: By a chat model: takes the data folder, a folder to write, the model's name, options as words, and
            the keyword `report`; tells what was made.
    """

    of_data: Callable[..., Mapping[str, Any]]
    by_annotator: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class LanguageModel:
    """One trained language model.

    Args:
        meaning: What it is for, in a line.
        train: Takes a data folder, a folder to write, and the keywords `base`, `records`, `given`, `device`, `resume`
            and `report`; writes a folder of the model's name there.
        records: How its records are made.
    """

    meaning: str
    train: Callable[..., TrainResult]
    records: Records


LANGUAGE_MODELS: dict[str, LanguageModel] = {
    RQ_RAG: LanguageModel(
        "which query to ask next, and the answer from what was found (RQ-RAG)",
        train_rq_rag,
        Records(records_of_data, records_by_model),
    ),
}
