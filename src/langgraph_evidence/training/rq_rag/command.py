"""What `evidence train rq_rag` and `evidence records rq_rag` do: records, and the fine-tuning on them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base import read_json, write_aside
from langgraph_evidence.models.causal import smollm2_folder
from langgraph_evidence.training.base import DataFolder
from langgraph_evidence.training.rq_rag.annotate import AnnotateOptions, annotate
from langgraph_evidence.training.rq_rag.make import drafts, make_records
from langgraph_evidence.training.rq_rag.options import FineTuneOptions, MakeOptions, options_of
from langgraph_evidence.training.rq_rag.train import fine_tune

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from langgraph_evidence.training.base import TrainResult

_SMOLLM2 = "smollm2"


def train_rq_rag(
    data: Path,
    out: Path,
    *,
    base: str = _SMOLLM2,
    records: Path | None = None,
    given: Mapping[str, str] | None = None,
    device: str = "auto",
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Makes `out/records.jsonl` of a data folder, unless records are given, and an adapter `out/rq_rag` of them.

    Args:
        data: The data folder.
        out: Folder of the records, checkpoints, course and adapter.
        base: smollm2, a folder or a hub id.
        records: A file of records that was made before, by the annotation or for another run.
        given: Options of `MakeOptions` and `FineTuneOptions` by name, as words.
        device: auto, cpu or cuda.
        resume: Go on from the last checkpoint in `out`.
        report: Is told the step, the number of all steps, and the loss.

    Raises:
        InvalidInput: An option is not allowed, or no record fits.
        ResourceError: The base, the data or a checkpoint cannot be read.
    """
    make, tune = options_of(given or {}, MakeOptions, FineTuneOptions)
    source = smollm2_folder() if base == _SMOLLM2 else base
    used = records or _records(DataFolder(data), out, make, again=not resume)
    return fine_tune(source, used, out, options=tune, called=base, device=device, resume=resume, report=report)


def records_of_data(data: Path, out: Path, given: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Makes the file of records that the data sets themselves allow; see `make_records`.

    Raises:
        InvalidInput: An option is not allowed, or no record can be made.
        ResourceError: The data cannot be read.
    """
    return make_records(DataFolder(data), out, options_of(given, MakeOptions)[0])


def records_by_model(
    data: Path, out: Path, annotator: str, given: Mapping[str, str], *, report: Callable[[int, int], None] | None = None
) -> dict[str, int]:
    """Has a chat model annotate the rows of a data folder; see `annotate`.

    Raises:
        InvalidInput: An option is not allowed, or there are no rows.
        ResourceError: The data cannot be read, or the folder holds another annotation.
        ModelError: The annotator refuses every call.
    """
    make, how = options_of(given, MakeOptions, AnnotateOptions)
    return annotate(list(drafts(DataFolder(data), make)), annotator, out, replace(how, make=make), report=report)


def _records(data: DataFolder, out: Path, options: MakeOptions, *, again: bool) -> Path:
    """The run's own records; a run that is resumed keeps those that it began with."""
    path, made_with = out / "records.jsonl", out / "records.options.json"
    told = asdict(options)
    if not again and path.is_file() and made_with.is_file():
        if read_json(made_with) != told:
            raise ResourceError(f"{path} was made with other options. Give another folder, or do not resume.")
        return path
    make_records(data, path, options)
    write_aside(made_with, json.dumps(told, indent=2).encode())
    return path
