"""Web search over a stand-in for the search library, whose package need not be installed."""

from __future__ import annotations

import sys
import time
from types import ModuleType
from typing import Any

import pytest

from langgraph_evidence.errors import MissingExtra, ToolError
from langgraph_evidence.tools.web import web_search_tool

ROWS = [
    {"title": "Lisbon", "body": "Lisbon is the capital of Portugal.", "href": "https://example.org/lisbon"},
    {"title": "Empty", "body": " ", "href": "https://example.org/empty"},
    {"title": "Porto", "body": "Porto is a city.", "href": "https://example.org/porto"},
]


def engine(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, str]] | Exception, *, slow: float = 0) -> list[Any]:
    """Puts a search library in place that finds these rows; the queries it is asked."""
    asked: list[Any] = []

    class DDGS:
        def __enter__(self) -> DDGS:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def text(self, query: str, **options: Any) -> list[dict[str, str]]:
            asked.append((query, options["backend"], options["max_results"]))
            time.sleep(slow)
            if isinstance(rows, Exception):
                raise rows
            return rows

    module = ModuleType("ddgs")
    module.DDGS = DDGS  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "ddgs", module)
    return asked


def call(tool: Any, **arguments: Any) -> Any:
    return tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})


def test_results_are_numbered_for_the_model_and_given_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = engine(monkeypatch, ROWS)
    message = call(web_search_tool(k=3), query="capital of Portugal")
    assert message.content == (
        "[1] Lisbon is the capital of Portugal. (https://example.org/lisbon)\n"
        "[2] Porto is a city. (https://example.org/porto)"
    )
    assert [passage["title"] for passage in message.artifact] == ["Lisbon", "Porto"]
    assert asked == [("capital of Portugal", "duckduckgo", 3)]


def test_nothing_found_and_wrong_arguments_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    engine(monkeypatch, [])
    assert call(web_search_tool(), query="zebra").content == "Nothing was found."
    assert call(web_search_tool(), query=" ").status == "error"
    assert "no parameter 'q'" in call(web_search_tool(), q="zebra").content


def test_a_failure_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    engine(monkeypatch, RuntimeError("202 Ratelimit"))
    with pytest.raises(ToolError, match="web search failed") as caught:
        call(web_search_tool(), query="zebra")
    assert caught.value.transient
    engine(monkeypatch, ROWS, slow=0.5)
    with pytest.raises(ToolError, match="more than"):
        call(web_search_tool(seconds=0.05), query="zebra")


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(MissingExtra, match=r"langgraph-evidence\[web\]"):
        web_search_tool()
