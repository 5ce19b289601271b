"""`evidence eval`: a method measured on a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langgraph_evidence.errors import InvalidInput


def evaluate(
    *,
    data: Annotated[Path, typer.Option(help="Questions: the official or the JSONL form of a data set.", exists=True)],
    method: Annotated[str, typer.Option(help="The method; `evidence methods` lists them.")] = "furepa",
) -> int:
    """Measures a method."""
    raise InvalidInput(f"Not there yet: {data} {method}.")
