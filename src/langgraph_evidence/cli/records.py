"""`evidence records`: what a language model is trained on, made of data sets, or by a chat model as annotator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langgraph_evidence.cli.models import language_models
from langgraph_evidence.cli.options import read_words
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.errors import InvalidInput

_EVERY = 50


def records(
    model: Annotated[str, typer.Argument(help="Which language model they are for.")],
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
    models = language_models()
    if model not in models:
        raise InvalidInput(f"There are no records for {model!r}; there are for: {', '.join(models)}.")
    made, screen, given = models[model].records, Screen(steps=not quiet), read_words(options)
    if annotator is None:
        screen.json({"records": str(out), "rows": made.of_data(data, out, given)})
        return 0

    def report(done: int, rows: int) -> None:
        if done % _EVERY == 0 or done == rows:
            screen.note(f"row {done} of {rows}")

    screen.json({"records": str(out), "rows": made.by_annotator(data, out, annotator, given, report=report)})
    return 0
