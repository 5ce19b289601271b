"""Every trained head by one interface: how it is trained, and its metrics beside their baselines as flat rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.offline.weights import NAME, SHIPPED
from langgraph_evidence.models import default_encoder
from langgraph_evidence.training.base import DataFolder
from langgraph_evidence.training.entailment import evaluate_entailment, train_entailment
from langgraph_evidence.training.offline_planner import measure_shipped_planner, train_offline_planner
from langgraph_evidence.training.progress_reward import measure_progress_reward, train_progress_reward
from langgraph_evidence.training.query_scorer import measure_query_scorer, train_query_scorer
from langgraph_evidence.training.reader import evaluate_reader, train_reader
from langgraph_evidence.training.sentence_ranker import measure_sentence_ranker, train_sentence_ranker

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import Metrics, TrainResult

TableRow = dict[str, str | int | float]
"""One line of a head's table: what it is of, then its metrics."""


@dataclass(frozen=True)
class Head:
    """One trained head.

    Args:
        meaning: What it is for, in a line.
        train: Takes a data folder, a folder to write, an encoder, and the keywords `resume` and `report`.
        measure: Takes a data folder and the folds to measure; gives the table of the shipped weights.
        suffix: Of the file that training writes, `<name><suffix>`.
    """

    meaning: str
    train: Callable[..., TrainResult]
    measure: Callable[[Path, Collection[int]], list[TableRow]]
    suffix: str = ".safetensors"


def _trained(train: Callable[..., TrainResult], data: Path, out: Path, encoder: Encoder, **how: Any) -> TrainResult:
    return train(encoder, DataFolder(data), out, **how)


def _metrics(measure: Callable[..., Metrics], data: Path, folds: Collection[int]) -> list[TableRow]:
    named = measure(default_encoder(), DataFolder(data), folds)
    return [flat({"row": name, **metrics}) for name, metrics in named.items()]


def _planner(
    data: Path, out: Path, _encoder: Encoder, *, report: Callable[[int, int, float], None] | None = None, **_how: Any
) -> TrainResult:
    # It needs no encoder, and a fit of minutes has no checkpoint to resume from.
    return train_offline_planner(DataFolder(data), out, report=report)


def _planner_rows(data: Path, folds: Collection[int]) -> list[TableRow]:
    return [flat({"row": name, **row}) for name, row in measure_shipped_planner(DataFolder(data), folds).items()]


def _reader_rows(data: Path, folds: Collection[int]) -> list[TableRow]:
    return [flat(row) for row in evaluate_reader(data, folds)["rows"]]


def _entailment_rows(data: Path, folds: Collection[int]) -> list[TableRow]:
    return [flat(row) for row in evaluate_entailment(data, folds)]


def flat(row: Mapping[str, Any], prefix: str = "") -> TableRow:
    """A nested row as one level: `{"a": {"b": 1}, "c": [0, 1]}` is `{"a b": 1, "c low": 0, "c high": 1}`."""
    out: TableRow = {}
    for name, value in row.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            out.update(flat(value, f"{key} "))
        elif isinstance(value, list):
            out |= {f"{key} low": value[0], f"{key} high": value[1]}
        else:
            out[key] = value
    return out


HEADS: dict[str, Head] = {
    "query_scorer": Head(
        "which query finds its passage first (FuRePA eqs. 7-10)",
        partial(_trained, train_query_scorer),
        partial(_metrics, measure_query_scorer),
    ),
    "entailment": Head("whether passages entail a sentence", partial(_trained, train_entailment), _entailment_rows),
    "reader": Head(
        "the answer that passages give, or that they give none", partial(_trained, train_reader), _reader_rows
    ),
    "sentence_ranker": Head(
        "which sentences matter to a question or claim",
        partial(_trained, train_sentence_ranker),
        partial(_metrics, measure_sentence_ranker),
    ),
    "progress_reward": Head(
        "which next sentence is better (Bradley-Terry)",
        partial(_trained, train_progress_reward),
        partial(_metrics, measure_progress_reward),
    ),
    NAME: Head("what the offline model asks next, and when it answers", _planner, _planner_rows, suffix=SHIPPED.suffix),
}


def get_head(name: str) -> Head:
    """The head of that name.

    Raises:
        InvalidInput: There is none.
    """
    if name not in HEADS:
        raise InvalidInput(f"There is no head {name!r}. Heads: {', '.join(HEADS)}.")
    return HEADS[name]
