"""`evidence records`: what a language model is trained on, made of data sets, or by a chat model as annotator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langgraph_evidence.cli.options import read_words
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.errors import InvalidInput, MissingExtra

_EVERY = 50


def records(
    model: Annotated[str, typer.Argument(help="Which language model they are for: rq_rag.")],
    *,
    data: Annotated[Path, typer.Option(help="Folder of the data sets.", exists=True, file_okay=False)],
    out: Annotated[Path, typer.Option(help="The file that is written; with --annotator a folder.")],
    annotator: Annotated[str | None, typer.Option(help="A chat model that writes queries and answers anew.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of theirs; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Makes training records of folds 0-7; with an annotator it goes on where it was stopped."""
    if model != "rq_rag":
        raise InvalidInput(f"There are no records for {model!r}; there are for: rq_rag.")
    try:
        from langgraph_evidence.training.rq_rag import command
    except ImportError as error:
        raise MissingExtra(f"Training needs {error.name}: pip install 'langgraph-evidence[train]'.") from error
    screen, given = Screen(steps=not quiet), read_words(options)
    if annotator is None:
        screen.json({"records": str(out), "rows": command.records_of_data(data, out, given)})
        return 0

    def report(done: int, rows: int) -> None:
        if done % _EVERY == 0 or done == rows:
            screen.note(f"row {done} of {rows}")

    screen.json({"records": str(out), "rows": command.records_by_model(data, out, annotator, given, report=report)})
    return 0
