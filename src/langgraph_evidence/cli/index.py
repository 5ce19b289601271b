"""`evidence index`: indexes of your own passages."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.cli.sources import KindOption, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

app = typer.Typer(help="Makes indexes of your own passages.", rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Makes indexes of your own passages."""


@app.command("build")
def build(
    corpus: Annotated[Path, typer.Argument(help="JSONL, JSON, CSV or a folder of .txt and .md files.", exists=True)],
    *,
    out: Annotated[Path, typer.Option(help="The directory to write; it appears when it is complete.")],
    kind: KindOption = "bm25",
    unit: Annotated[Unit, typer.Option(help="What one passage is.")] = "passage",
    chunk_words: Annotated[int | None, typer.Option(help="Cut longer passages into blocks of so many words.")] = None,
    language: Annotated[str, typer.Option(help="The passages' language by its code, such as de or ja.")] = "en",
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Builds an index directory: safe files with checksums, memory-mapped when they are searched."""
    from langgraph_evidence.retrieval import Corpus, build_index

    screen = Screen(steps=not quiet)
    with screen.working(f"reading {corpus}"):
        passages = Corpus.load(corpus, unit=unit, chunk_words=chunk_words, language=language)
    with _embedding(screen, wanted=kind != "bm25") as progress:
        build_index(passages, out, kind=kind, progress=progress)
    screen.note(f"{len(passages):,} passages indexed ({kind}) in {out}")
    return 0


@contextmanager
def _embedding(screen: Screen, *, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What tells a terminal how many passages are embedded; after a killed build it begins where that one was."""
    bars = screen.bars() if wanted else None
    if bars is None:
        yield None
        return
    with bars:
        task = bars.add_task("embedding passages", total=None)

        def show(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        yield show
