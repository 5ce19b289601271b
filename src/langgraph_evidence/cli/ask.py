"""`evidence ask`: one question, answered step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from langgraph_evidence.cli.options import (
    DbOption,
    InFlightOption,
    MethodOption,
    ModelOption,
    SettingsOption,
    Thread,
    read_settings,
)
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.cli.sources import CorpusOption, IndexOption, KindOption, open_passages
from langgraph_evidence.cli.tools import AllowOption, ToolsOption, open_tools
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.methods import DEFAULT, Components, Method, get_method, method_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from langchain_core.tools import BaseTool

NO_ANSWER = 3
UNSUPPORTED = 4
EXIT_CODES = (
    "Below the setting min_support no answer is given: the run says why, and shows its guess as one. Leaves with 0 "
    "answered, 1 failed, 2 wrong use, 3 stopped without an answer, 4 declined for want of support, also where the "
    "setting if_unsupported asks for the guess."
)
OFFLINE_NOTE = "offline: this package's own extraction over a 22M encoder, not a language model"


def ask(
    question: Annotated[str, typer.Argument(help="The question (or, for a method that checks claims, the claim).")],
    *,
    method: MethodOption = DEFAULT,
    corpus: CorpusOption = None,
    index: IndexOption = None,
    kind: KindOption = "bm25",
    tools: ToolsOption = None,
    allow: AllowOption = None,
    model: ModelOption = "offline",
    settings: SettingsOption = None,
    max_calls: Annotated[int | None, typer.Option(help="Model calls that the run may make.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds that the run may work.")] = None,
    thread: Annotated[str | None, typer.Option(help="Keep the run under this name, and resume it.")] = None,
    db: DbOption = None,
    in_flight: InFlightOption = None,
    json: Annotated[bool, typer.Option("--json", help="Write the graph's output as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no steps.")] = False,
) -> int:
    """Answers a question and shows each step as it happens, then the answer, each sentence marked with its proofs."""
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
    asking = f" Model: {OFFLINE_NOTE if model == 'offline' else model}." if chosen.needs_model else ""
    screen.note(f"Searching {what}.{asking}")
    builder = chosen.create(Components(model, retriever, _tools(chosen, tools, allow)), values)
    store = None if thread is None or db is None else Thread(thread, db, in_flight)
    output = _run(builder, {chosen.input_key: question.strip()}, screen, method=chosen, store=store)
    if json:
        screen.json(output)
    else:
        screen.result(output)
    return exit_code(output)


def exit_code(output: Mapping[str, Any]) -> int:
    """What a finished run leaves with; a guess is no answer, whoever asked for it."""
    if output.get("stopped") == "unsupported":
        return UNSUPPORTED
    return 0 if output.get("answer") else NO_ANSWER


def _tools(method: Method, folders: list[Path] | None, allow: list[str] | None) -> list[BaseTool]:
    if folders and not method.uses_tools:
        others = [name for name in method_names() if get_method(name).uses_tools]
        hint = f"leave --tools out, or give --method {' or '.join(others)}"
        raise InvalidInput(f"The method {method.name!r} uses no tools; {hint}.")
    return open_tools(folders, allow) if method.uses_tools else []


def _run(
    builder: Any, given: dict[str, str], screen: Screen, *, method: Method, store: Thread | None
) -> dict[str, Any]:
    from langgraph_evidence.cli import running

    if store is None:
        return running.run(builder, given, screen, method=method)
    return running.run_on_thread(builder, given, screen, method=method, store=store)
