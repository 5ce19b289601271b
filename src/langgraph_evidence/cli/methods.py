"""`evidence methods` and `evidence draw`: what there is, and what it looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.methods import Method, get_method, method_names

if TYPE_CHECKING:
    from collections.abc import Iterator


def methods(*, json: Annotated[bool, typer.Option("--json", help="Write them as one JSON object.")] = False) -> int:
    """Lists the methods, their settings, defaults and where each default comes from."""
    screen = Screen()
    found = [get_method(name) for name in method_names()]
    if json:
        screen.json({method.name: _as_json(method) for method in found})
        return 0
    for method in found:
        screen.out("\n".join(describe(method)))
    return 0


def describe(method: Method) -> Iterator[str]:
    """A method in lines: its name and paper, then each setting with its value, meaning, source and type."""
    from langgraph_evidence.settings import allowed, properties

    yield f"{method.name}: {method.paper}"
    for name, prop in properties(method.settings).items():
        source = f"{prop['source']}]"
        yield f"  {name}={_word(prop['default'])}  {prop['description'].removesuffix(f' [{source}')}"
        yield f"      [{allowed(prop)}; {source}"


def draw(method: Annotated[str, typer.Argument(help="The method; `evidence methods` lists them.")]) -> int:
    """Draws a method as mermaid text: its algorithm, or else its graph."""
    Screen().out(get_method(method).drawing().rstrip())
    return 0


def _as_json(method: Method) -> dict[str, Any]:
    from langgraph_evidence.settings import properties

    return {
        "paper": method.paper,
        "input": method.input_key,
        "needs_model": method.needs_model,
        "uses_tools": method.uses_tools,
        "local_models": list(method.local_models),
        "settings": properties(method.settings),
    }


def _word(value: Any) -> str:
    """A value as `--set` takes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
