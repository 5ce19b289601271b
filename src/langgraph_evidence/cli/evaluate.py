"""`evidence eval`: a method measured on a data set, beside one-shot retrieval."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langgraph_evidence.cli.options import MethodOption, ModelOption, SettingsOption, read_settings
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.cli.sources import IndexOption, KindOption
from langgraph_evidence.methods import DEFAULT, get_method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

    from langgraph_evidence.evaluation.outcome import Outcome

FAILED = 1
RunsOption = Annotated[Path, typer.Option(help="Keeps every outcome, so that a killed evaluation goes on.")]
# Without a terminal a line is written every so many questions, so that a log stays readable.
_EVERY = 25


def evaluate(
    *,
    data: Annotated[str, typer.Option(help="HotpotQA, 2WikiMultihopQA or MuSiQue questions: official file or JSONL.")],
    method: MethodOption = DEFAULT,
    fold: Annotated[int | None, typer.Option(help="Keep the questions of one fold.")] = None,
    limit: Annotated[int | None, typer.Option(help="Keep the first questions.", min=1)] = None,
    index: IndexOption = None,
    kind: KindOption = "bm25",
    model: ModelOption = "offline",
    settings: SettingsOption = None,
    k: Annotated[int | None, typer.Option(help="Also compare with one-shot retrieval of so many passages.")] = None,
    judge: Annotated[str | None, typer.Option(help="A model that judges every answer.")] = None,
    concurrency: Annotated[int, typer.Option(help="Questions under way at once.", min=1)] = 4,
    runs: RunsOption = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Write the report as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Measures a method: answers, evidence, calls and time, beside one-shot retrieval of as many passages.

    Each question is asked over its own paragraphs, or over --index.
    """
    from langgraph_evidence.evaluation.datasets import load_data
    from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation

    chosen = get_method(method)
    values = read_settings(chosen, settings or [], {})
    questions = load_data(data, fold=fold, limit=limit)
    screen = Screen(steps=not (json or quiet))
    options = EvaluationOptions(index=index, kind=kind, fixed_k=k, judge=judge, concurrency=concurrency, runs=runs)
    with _progress(screen, len(questions.questions)) as tell:
        report = run_evaluation(
            chosen, questions, model=model, settings=values, fold=fold, limit=limit, options=options, progress=tell
        )
    if json:
        screen.json(report.to_json())
    else:
        screen.table(report.table, report.markdown)
    ours = report.rows[0]
    return FAILED if ours.failed == ours.questions else 0


@contextmanager
def _progress(screen: Screen, total: int) -> Iterator[Callable[[str, Outcome], None]]:
    """Tells each row's outcomes: a bar a row on a terminal, a line now and then in a pipe."""
    bars = screen.bars()
    if bars is None:
        counts: Counter[str] = Counter()

        def line(name: str, _outcome: Outcome) -> None:
            counts[name] += 1
            if counts[name] % _EVERY == 0 or counts[name] == total:
                screen.note(f"{name}: {counts[name]} of {total} questions")

        yield line
        return
    tasks: dict[str, TaskID] = {}

    def move(name: str, _outcome: Outcome) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=total)
        bars.advance(tasks[name])

    with bars:
        yield move
