"""Runs of a method on disk, whole: question, answer, evidence and gold sentences, so that any verifier can judge them.

A journal of `evaluation.outcome` keeps ids alone; a verifier needs the texts. One JSON line a run, written as soon as
it is there, so that a stopped recording goes on where it was.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.trust.gold import GoldSpan, gold_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.types import Passage

    Output = Mapping[str, Any]


class RecordedRun(NamedTuple):
    """One run: what was asked, what came out, and what is known to be right.

    Args:
        id: The question's id.
        dataset: Of the question.
        method: Name of the method.
        model: The language model as it was named.
        question: The text.
        answers: The gold answers.
        answer: What the run answered; empty where it did not.
        stopped: Why it ended.
        evidence: The passages that it held, in their order.
        gold: The gold supporting sentences by their place, of the question's paragraphs, found or not.
    """

    id: str
    dataset: str
    method: str
    model: str
    question: str
    answers: tuple[str, ...]
    answer: str
    stopped: str
    evidence: tuple[Passage, ...]
    gold: tuple[GoldSpan, ...]


def recorded_run(question: Question, output: Output, *, method: str, model: str) -> RecordedRun:
    """What a graph's output is kept as."""
    evidence: tuple[Passage, ...] = tuple(
        {"id": str(item["id"]), "title": str(item["title"]), "text": str(item["text"])}
        for item in output.get("evidence") or []
    )
    return RecordedRun(
        id=question.id,
        dataset=question.dataset,
        method=method,
        model=model,
        question=question.question,
        answers=question.answers,
        answer=str(output.get("answer") or ""),
        stopped=str(output.get("stopped") or ""),
        evidence=evidence,
        gold=gold_spans(question),
    )


def read_runs(path: Path) -> list[RecordedRun]:
    """The runs of a file, in its order.

    Raises:
        ResourceError: The file is missing, or a line other than the last is damaged.
    """
    if not path.is_file():
        raise ResourceError(f"There is no recording at {path}; make one with `record`.")
    lines = path.read_bytes().split(b"\n")
    # The last part is empty, or the half of a line that a kill left behind.
    return [_read(line, f"{path}, line {number}") for number, line in enumerate(lines[:-1], start=1)]


def _read(line: bytes, place: str) -> RecordedRun:
    try:
        row: dict[str, Any] = json.loads(line)
        tuples = {"answers": tuple(row["answers"]), "evidence": tuple(row["evidence"])}
        return RecordedRun(**row | tuples | {"gold": tuple(GoldSpan(*span) for span in row["gold"])})
    except (ValueError, KeyError, TypeError) as error:
        raise ResourceError(f"{place}: no recorded run ({error}); remove the line.") from None


async def record(
    questions: Iterable[Question],
    answerer: Callable[[Question], Any],
    path: Path,
    *,
    method: str,
    model: str,
    on_run: Callable[[RecordedRun], None] | None = None,
) -> None:
    """Asks every question that the file does not hold, one after the other, and adds its run.

    Args:
        questions: What to ask.
        answerer: Gives a graph's output for a question, to be awaited.
        path: The file; made where it is missing.
        method: Name of the method.
        model: Name of the language model.
        on_run: Is told every new run.

    Raises:
        InvalidInput: The file holds runs of another method or model.
        ResourceError: The file is damaged.
    """
    known = _known(path, method, model)
    for question in questions:
        if question.id in known:
            continue
        run = recorded_run(question, await answerer(question), method=method, model=model)
        with path.open("ab") as file:
            file.write(json.dumps(run._asdict()).encode() + b"\n")
        if on_run is not None:
            on_run(run)


def _known(path: Path, method: str, model: str) -> set[str]:
    if not path.is_file():
        return set()
    runs = read_runs(path)
    # What a kill left of a last line goes, or the next run would stand behind it.
    path.write_bytes(path.read_bytes().rpartition(b"\n")[0] + b"\n" if runs else b"")
    others = {(run.method, run.model) for run in runs} - {(method, model)}
    if others:
        raise InvalidInput(f"{path} holds runs of {sorted(others)}, not of {method} with {model}; give another file.")
    return {run.id for run in runs}


def sampled(questions: Sequence[Question], *, seed: int) -> list[Question]:
    """The questions in an order by chance, so that the first n are a fair sample, whatever n."""
    ordered = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(ordered)
    return ordered
