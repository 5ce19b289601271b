"""`evidence ask`: one question, answered step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.cli.sources import CorpusOption, IndexOption, KindOption, open_passages
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.methods import Components, Method, get_method
from langgraph_evidence.settings import Settings, parse_assignments

NO_ANSWER = 3
OFFLINE_NOTE = "offline: this package's own extraction over a 22M encoder, not a language model"


def ask(
    question: Annotated[str, typer.Argument(help="The question (or, for a method that checks claims, the claim).")],
    *,
    method: Annotated[str, typer.Option(help="The method; `evidence methods` lists them.")] = "furepa",
    corpus: CorpusOption = None,
    index: IndexOption = None,
    kind: KindOption = "bm25",
    model: Annotated[str, typer.Option(help="'offline', or provider:model as LangChain names it.")] = "offline",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the method; may be repeated.")
    ] = None,
    max_calls: Annotated[int | None, typer.Option(help="Model calls that the run may make.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds that the run may work.")] = None,
    thread: Annotated[str | None, typer.Option(help="Keep the run under this name, and resume it.")] = None,
    db: Annotated[Path | None, typer.Option(help="The SQLite file that --thread is kept in.", dir_okay=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the graph's output as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no steps.")] = False,
) -> int:
    """Answers a question and shows each step: plans, queries, evidence, then the answer with its citations."""
    chosen = get_method(method)
    if not question.strip():
        raise InvalidInput(f"The {chosen.input_key} is empty.")
    if (thread is None) is not (db is None):
        raise InvalidInput("--thread and --db go together: give both or neither.")
    limits = {"max_calls": max_calls, "max_seconds": max_seconds}
    values = read_settings(chosen, settings or [], limits)
    screen = Screen(steps=not (json or quiet))
    retriever, what = open_passages(corpus, index, kind=kind)
    screen.note(chosen.paper)
    screen.note(f"Searching {what}. Model: {OFFLINE_NOTE if model == 'offline' else model}.")
    builder = chosen.create(Components(model, retriever), values)
    output = _run(builder, {chosen.input_key: question.strip()}, screen, method=chosen, thread=thread, db=db)
    if json:
        screen.json(output)
    else:
        screen.result(output)
    return 0 if output.get("answer") else NO_ANSWER


def read_settings(method: Method, assignments: list[str], limits: dict[str, Any]) -> Settings:
    """The settings of a run from `key=value` words and the limits that were given.

    Raises:
        InvalidInput: A name or a value is not allowed.
    """
    given = {name: value for name, value in limits.items() if value is not None}
    return method.settings.from_mapping({**parse_assignments(method.settings, assignments), **given})


def _run(
    builder: Any, given: dict[str, str], screen: Screen, *, method: Method, thread: str | None, db: Path | None
) -> dict[str, Any]:
    from langgraph_evidence.cli import running

    if thread is None or db is None:
        return running.run(builder, given, screen)
    return running.run_on_thread(builder, given, screen, method=method, thread=thread, db=db)
