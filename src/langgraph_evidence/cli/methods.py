"""`evidence methods` and `evidence draw`: what there is, and what it looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.methods import Components, Method, get_method, method_names

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
    """Draws a method's graph as mermaid text."""
    Screen().out(mermaid(get_method(method)).rstrip())
    return 0


def mermaid(method: Method) -> str:
    """The drawing of a method's graph; it is built from the offline model and the shipped sample, and never run."""
    from langchain_core.retrievers import BaseRetriever

    class Undrawn(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Any]:
            raise NotImplementedError(query)

    builder = method.create(Components("offline", Undrawn()), method.settings())
    return str(builder.compile().get_graph().draw_mermaid())


def _as_json(method: Method) -> dict[str, Any]:
    from langgraph_evidence.settings import properties

    return {"paper": method.paper, "input": method.input_key, "settings": properties(method.settings)}


def _word(value: Any) -> str:
    """A value as `--set` takes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
