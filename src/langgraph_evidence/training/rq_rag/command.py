"""What `evidence train rq_rag` does: records where there are none yet, then the fine-tuning on them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base import read_json, write_aside
from langgraph_evidence.models.causal import smollm2_folder
from langgraph_evidence.training.base import DataFolder
from langgraph_evidence.training.rq_rag.make import make_records
from langgraph_evidence.training.rq_rag.options import shared_out
from langgraph_evidence.training.rq_rag.train import fine_tune

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from langgraph_evidence.training.base import TrainResult
    from langgraph_evidence.training.rq_rag.options import MakeOptions

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
    make, tune = shared_out(given or {})
    source = smollm2_folder() if base == _SMOLLM2 else base
    used = records or _records(DataFolder(data), out, make, again=not resume)
    return fine_tune(source, used, out, options=tune, called=base, device=device, resume=resume, report=report)


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
