"""A training record of RQ-RAG: one question, the steps that lead to its answer, and where each of them came from."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.methods.rq_rag.protocol import RefinedQuery, Refinement
from langgraph_evidence.models.base import write_aside
from langgraph_evidence.retrieval.reading import json_lines
from langgraph_evidence.training.rq_rag.options import Form
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from langgraph_evidence.training.rq_rag.drafts import Draft

_FOLDS_OF_OURS = 8


class Step(TypedDict):
    """One refined query and the passages that it found, best first, as they are shown."""

    action: Refinement
    query: str
    passages: list[Passage]


class Source(TypedDict):
    """Where a record comes from: a row of a file, and whoever wrote its queries and its answer.

    `prompts` are the names and hashes of the prompts, empty where the data set itself says all; `model` is then "".
    """

    dataset: str
    file: str
    row: str
    model: str
    prompts: dict[str, str]


class Record(TypedDict):
    """One trajectory to learn from.

    `answer` is what is learned, `answers` all that are right; `fold` tells the part of the data that it may be used in.
    """

    id: str
    form: Form
    question: str
    steps: list[Step]
    answer: str
    answers: list[str]
    fold: int
    source: Source


_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def made_record(
    draft: Draft, steps: list[Step], answer: str, source: Source | None = None, *, form: Form = "refined"
) -> Record:
    """The record of a draft's row; without a source, its queries and its answer are the data set's own."""
    own = Source(dataset=draft.dataset, file=draft.file, row=draft.row, model="", prompts={})
    return Record(
        id=f"{draft.dataset}/{draft.row}",
        form=form,
        question=draft.question,
        steps=steps,
        answer=answer,
        answers=list(draft.answers),
        fold=draft.fold,
        source=source or own,
    )


def record_steps(record: Record) -> list[RefinedQuery]:
    """The steps as the protocol writes them."""
    return [RefinedQuery(step["action"], step["query"], step["passages"]) for step in record["steps"]]


def shown(record: Record) -> list[Passage]:
    """All passages that a record shows, in order; one that is shown twice stands there twice."""
    return [passage for step in record["steps"] for passage in step["passages"]]


def fold_of(question: str) -> int:
    """The fold of a question whose data set has none: 0 to 7 by its hash, so that 8 and 9 stay what they are."""
    return int(hashlib.sha256(question.strip().lower().encode()).hexdigest(), 16) % _FOLDS_OF_OURS


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Writes one record a line, the file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_aside(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode())


def read_records(path: Path) -> list[Record]:
    """Reads what `write_records` or the annotation wrote.

    Raises:
        ResourceError: The file is missing or a line is no record; the message names the line.
    """
    return [_checked(place, value) for place, value in json_lines(path)]


def _checked(place: str, value: object) -> Record:
    try:
        return _RECORD.validate_python(value)
    except ValidationError as error:
        first = cast("dict[str, Any]", error.errors()[0])
        where = ".".join(map(str, first["loc"])) or "the line"
        raise ResourceError(f"{place}: not a record of RQ-RAG: {where}: {first['msg']}. Make the file again.") from None


def of_folds(records: Sequence[Record], folds: Iterable[int]) -> list[Record]:
    """The records of these folds."""
    wanted = frozenset(folds)
    return [record for record in records if record["fold"] in wanted]
