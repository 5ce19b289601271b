"""What each stage of the annotation has done, on disk: one file a stage, one line a row, never written twice."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.evaluation.lines import append_line, whole_lines
from langgraph_evidence.models.base import read_json, write_aside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

StageName = Literal["classify", "refine", "search", "answer"]
STAGES: tuple[StageName, ...] = ("classify", "refine", "search", "answer")
_IDENTITY = "identity.json"


class Done(TypedDict):
    """What one stage made of one row: its value, or why the row is dropped.

    `prompt` is the name of the prompt that was asked and `reply` what came, both empty where no model was asked.
    """

    id: str
    dropped: str
    value: Any
    prompt: str
    reply: str


class Stored:
    """The folder of one annotation; `opened` gives it, for one process at a time.

    Args:
        folder: Of the stages' files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.rows = {stage: self._read(stage) for stage in STAGES}

    def _path(self, stage: StageName) -> Path:
        return self._folder / f"{STAGES.index(stage) + 1}-{stage}.jsonl"

    def _read(self, stage: StageName) -> dict[str, Done]:
        path, found = self._path(stage), dict[str, Done]()
        for number, line in enumerate(whole_lines(path), start=1):
            try:
                row: Done = json.loads(line)
                found[row["id"]] = row
            except (ValueError, TypeError, KeyError):
                raise ResourceError(f"{path}, line {number}: not a row of an annotation; remove the line.") from None
        return found

    def add(self, stage: StageName, row: Done) -> Done:
        """Writes what a stage has done with a row, unless it was written before."""
        if row["id"] not in self.rows[stage]:
            append_line(self._path(stage), row)
            self.rows[stage][row["id"]] = row
        return self.rows[stage][row["id"]]


@contextmanager
def opened(folder: Path, identity: Mapping[str, Any]) -> Iterator[Stored]:
    """The annotation in a folder, to begin or to go on with.

    Args:
        folder: Made when it is missing.
        identity: What its results depend on; one that is resumed must have the same.

    Raises:
        ResourceError: Another process works there, it was begun otherwise, or a file is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # The lock ends with the process, however that ends.
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ResourceError(f"Another process annotates in {folder}: wait for it, or give another.") from None
        path, known = folder / _IDENTITY, json.loads(json.dumps(identity))
        if path.is_file() and read_json(path) != known:
            raise ResourceError(f"{folder} was begun with another model, data or options. Give another folder.")
        write_aside(path, json.dumps(known, indent=2, sort_keys=True).encode())
        yield Stored(folder)
