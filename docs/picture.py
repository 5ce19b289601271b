"""Draws docs/ask.svg: what `evidence ask` shows on a terminal for one question of the shipped sample."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from langgraph_evidence import retriever_for
from langgraph_evidence.cli.running import run
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.data import sample_passages_path
from langgraph_evidence.methods import DEFAULT, Components, get_method
from langgraph_evidence.retrieval import Corpus

QUESTION = "Where was the director of film The Alster Case born?"


def main() -> None:
    """Runs the question with the offline model and saves what a terminal would show."""
    console = Console(record=True, width=118, highlight=False, file=io.StringIO())
    screen = Screen(console=console)
    console.print(f"$ evidence ask {QUESTION!r}", style="bold")
    method = get_method(DEFAULT)
    builder = method.create(
        Components("offline", retriever_for(Corpus.load(sample_passages_path()))), method.settings()
    )
    screen.result(run(builder, {method.input_key: QUESTION}, screen, method=method))
    console.save_svg(str(Path(__file__).with_name("ask.svg")), title="FuRePA, offline model, 745 Wikipedia passages")


if __name__ == "__main__":
    main()
