"""What one question's run came to, and the journal that keeps it: one JSON line a question, safe against a kill."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import TypedDict

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.lines import append_line, whole_lines
from langgraph_evidence.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


ROWS = "rows.jsonl"
MANIFEST = "run.json"


class Failure(TypedDict):
    """The error that ended a question's run."""

    type: str
    message: str


class EvidenceId(TypedDict):
    """One passage (or sentence, or block) of a run's evidence."""

    id: str
    title: str


class Quoted(TypedDict):
    """Where a citation points: a span of a passage's text, in characters."""

    passage_id: str
    quote_start: int
    quote_end: int


class Candidate(TypedDict):
    """The answer of one trajectory of a run, with its evidence and the names of the selections that chose it."""

    answer: str
    evidence: list[EvidenceId]
    selected_by: list[str]


class _Told(TypedDict, total=False):
    """What not every outcome has: runs of earlier versions, baselines and failed runs have none of it."""

    support: float
    guess: str
    candidates: list[Candidate]
    error: Failure


class Outcome(_Told):
    """One question's result; with `error` the run failed and the rest is empty.

    `seconds` is the wall time of this question, which includes waiting for its turn at a shared model. `support` is
    that of the answer by its verified citations, or of the `guess`, the answer that was not trusted; `candidates` are
    the answers of a method's trajectories.
    """

    id: str
    answer: str
    evidence: list[EvidenceId]
    citations: list[Quoted]
    stopped: str
    usage: Usage
    seconds: float


def declined(outcome: Outcome) -> bool:
    """Whether the run gave no answer because its evidence does not support the one that it found."""
    return outcome["stopped"] == "unsupported" and not outcome["answer"].strip()


@dataclass(frozen=True)
class RunIdentity:
    """Everything that a result depends on; two runs with the same identity share a run directory.

    Args:
        method: Name of the method or baseline.
        model: The language model as the caller named it.
        settings: The method's settings.
        retrieval: Where passages come from: own paragraphs or an index with its checksum, the kind, k.
        data_sha256: Of the data file.
        fold: The fold that was kept.
        limit: How many questions were kept.
        version: Of this package.
    """

    method: str
    model: str
    data_sha256: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    retrieval: str = "own paragraphs"
    fold: int | None = None
    limit: int | None = None

    @property
    def key(self) -> str:
        """16 hexadecimal digits: the name of the run's directory."""
        return hashlib.sha256(_canonical(asdict(self)).encode()).hexdigest()[:16]


def _canonical(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except TypeError as error:
        raise InvalidInput(f"A run is known by plain JSON values; {error}.") from None


class Journal:
    """The outcomes of one run on disk, under `<runs>/<key>/`.

    Each is flushed to the disk before the next question counts as done. A half-written last line, which a kill leaves
    behind, is cut off. A failed question is asked again by the next run of the same identity; its later row counts.

    Args:
        runs: The folder of all runs; made when it is missing.
        identity: What this run depends on.

    Raises:
        ResourceError: The folder cannot be written, or a line other than the last is damaged.
    """

    def __init__(self, runs: Path, identity: RunIdentity) -> None:
        self.directory = runs / identity.key
        self.path = self.directory / ROWS
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            (self.directory / MANIFEST).write_text(_canonical(asdict(identity)) + "\n", encoding="utf-8")
            self.outcomes = self._read()
        except OSError as error:
            raise ResourceError(f"The run directory {self.directory} cannot be written: {error}.") from error

    def _read(self) -> dict[str, Outcome]:
        outcomes = {}
        for number, line in enumerate(whole_lines(self.path), start=1):
            try:
                outcome = _outcome(json.loads(line))
            except (ValueError, TypeError):
                raise ResourceError(
                    f"{self.path}, line {number}: not an outcome of a run; remove the line or the run's directory."
                ) from None
            outcomes[outcome["id"]] = outcome
        return outcomes

    @property
    def done(self) -> dict[str, Outcome]:
        """The outcomes that need no second run: every one that did not fail."""
        return {name: outcome for name, outcome in self.outcomes.items() if "error" not in outcome}

    def append(self, outcome: Outcome) -> None:
        """Writes one outcome so that it survives a kill."""
        append_line(self.path, outcome)
        self.outcomes[outcome["id"]] = outcome


def _outcome(row: Any) -> Outcome:
    """A row of a journal, which another version may have written: all that every outcome has must be there."""
    missing = Outcome.__required_keys__ - dict(row).keys()
    if missing:
        raise ValueError(missing)
    return cast("Outcome", row)
