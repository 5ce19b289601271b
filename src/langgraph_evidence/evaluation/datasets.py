"""Questions with gold answers and gold passages, from the files people have.

Read are the official files of HotpotQA and 2WikiMultihopQA (a JSON array) and MuSiQue (JSON Lines), this project's own
JSON Lines with a question's paragraphs (`context`, `gold_idx`) or with gold passages of a shared corpus (`gold_pids`
or `gold_ids`), and the closed world (`closed-world:seed=7,size=1000`). A row's own shape says what it is.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.closed_world import ClosedWorld
from langgraph_evidence.evaluation.rows import question_from_row
from langgraph_evidence.retrieval.formats import BrokenRowError
from langgraph_evidence.retrieval.reading import json_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.types import Passage

CLOSED_WORLD = "closed-world:"


@dataclass(frozen=True)
class DataSet:
    """Questions in the order of their file.

    Args:
        name: The file's name or the closed world's description.
        questions: At least one.
        sha256: Of the file, or of the closed world's description and version: what a result was measured on.
        corpus: Streams the passages that all questions share, where the data set brings them itself.
        fold: The fold that was kept, if one was.
        limit: How many questions were kept at most, if that was said.
    """

    name: str
    questions: tuple[Question, ...]
    sha256: str
    corpus: Callable[[], Iterable[Passage]] | None = None
    fold: int | None = None
    limit: int | None = None


def load_data(source: str | Path, *, fold: int | None = None, limit: int | None = None) -> DataSet:
    """Reads a data set and keeps one fold and the first questions of it.

    Args:
        source: A file (`.gz` is read as well), or `closed-world:seed=S,size=N`.
        fold: Keeps the rows of this fold only.
        limit: Keeps so many questions, the first ones.

    Raises:
        InvalidInput: A wrong fold or limit, or one that leaves no question.
        ResourceError: The file is missing or broken; the message names the line.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"The limit was given as {limit}; it is the number of questions, at least 1.")
    whole = _closed_world(str(source)) if str(source).startswith(CLOSED_WORLD) else _file(Path(source))
    kept = tuple(question for question in whole.questions if fold is None or question.fold == fold)[:limit]
    if not kept:
        folds = sorted({question.fold for question in whole.questions if question.fold is not None})
        known = f"it has folds {', '.join(map(str, folds))}" if folds else "its rows have no fold; leave the fold out"
        raise InvalidInput(f"{whole.name} has no question in fold {fold}: {known}.")
    return replace(whole, questions=kept, fold=fold, limit=limit)


def join_data(name: str, parts: Sequence[DataSet]) -> DataSet:
    """One data set out of several files, e.g. of the training and development rows of one fold.

    Raises:
        InvalidInput: Two files use the same id.
    """
    questions = tuple(question for part in parts for question in part.questions)
    twice = [name for name, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise InvalidInput(f"{', '.join(part.name for part in parts)} share the question id {twice[0]!r}.")
    sha256 = hashlib.sha256(" ".join(part.sha256 for part in parts).encode()).hexdigest()
    return replace(parts[0], name=name, questions=questions, sha256=sha256, corpus=None)


def _closed_world(source: str) -> DataSet:
    world = ClosedWorld.parse(source.removeprefix(CLOSED_WORLD))
    return DataSet(source, tuple(world.questions()), world.sha256, world.passages)


def _file(path: Path) -> DataSet:
    if not path.is_file():
        raise ResourceError(f"There is no data file at {path}.")
    aliases = _aliases(path.with_name("id_aliases.json"))
    lines: dict[str, str] = {}
    questions = []
    for place, row in json_rows(path):
        try:
            question = question_from_row(row, aliases)
        except BrokenRowError as error:
            raise ResourceError(f"{place}: {error}.") from None
        if question is None:
            continue
        if question.id in lines:
            raise ResourceError(f"{place}: the id {question.id!r} was already used at {lines[question.id]}.")
        lines[question.id] = place
        questions.append(question)
    if not questions:
        raise ResourceError(f"{path} holds no question that can be scored.")
    return DataSet(path.name, tuple(questions), hashlib.sha256(path.read_bytes()).hexdigest())


def _aliases(path: Path) -> Mapping[str, tuple[str, ...]]:
    """2WikiMultihopQA's `id_aliases.json`, when it lies beside the questions: aliases and demonyms by Wikidata id."""
    if not path.is_file():
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row: dict[str, Any] = json.loads(line)
            found[row["Q_id"]] = (*row["aliases"], *row["demonyms"])
        except (ValueError, KeyError, TypeError) as error:
            raise ResourceError(f"{path}, line {number}: expected Q_id, aliases and demonyms ({error!r}).") from None
    return found
