"""Where the passages of a command come from: an index, a corpus, or the shipped sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from langgraph_evidence.retrieval import PassageRetriever


# Those of the retrieval room, written again: importing it would make `evidence --help` wait a second.
Kind = Literal["bm25", "dense", "hybrid"]
Unit = Literal["passage", "sentence"]

CorpusOption = Annotated[
    Path | None,
    typer.Option(
        help="Passages to search: JSONL, CSV, a folder of texts. Without it, the shipped sample.", exists=True
    ),
]
IndexOption = Annotated[Path | None, typer.Option(help="An index made by `evidence index build`.", exists=True)]
KindOption = Annotated[Kind, typer.Option(help="How a corpus is ranked.")]


def open_passages(corpus: Path | None, index: Path | None, *, kind: Kind) -> tuple[PassageRetriever, str]:
    """The retriever of a command, and what it searches in words.

    Raises:
        InvalidInput: Both a corpus and an index are given.
        ResourceError: What is given is missing or damaged.
    """
    from langgraph_evidence.retrieval.sources import open_source

    if corpus is not None and index is not None:
        raise InvalidInput("Give --corpus or --index, not both.")
    retriever = open_source(corpus=corpus, index=index, kind=kind)
    what = index or corpus or "the shipped sample of Wikipedia"
    return retriever, f"{len(retriever.passages):,} passages of {what}"
