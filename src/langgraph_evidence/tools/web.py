"""Web search as an agent's tool, by DuckDuckGo: the only use of langchain-community, which is being sunset.

Its requests are made by that library, to the search engine alone; the address rules of declarative tools do not apply.
"""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import MissingExtra, ToolError
from langgraph_evidence.tools.parameters import Parameter, read_arguments, schema
from langgraph_evidence.types import Passage, content_id, passage_line

_QUERY = Parameter("query", "What to search for.")


def web_search_tool(*, name: str = "web_search", k: int = 5, seconds: float = 20.0) -> BaseTool:
    """Makes a tool that searches the web: its content numbers the results for the model, its artifact lists them.

    Args:
        name: The tool's name, as the agent's model calls it.
        k: How many results a call returns at most.
        seconds: How long a search may take.

    Raises:
        MissingExtra: The extra `web` is not installed.
    """
    engine = _engine()

    async def find(**given: Any) -> tuple[str, list[Passage]]:
        query = read_arguments([_QUERY], given)["query"]
        try:
            async with asyncio.timeout(seconds):
                return _pack(await asyncio.to_thread(engine.results, query, k), k)
        except TimeoutError:
            raise ToolError(f"The web search took more than {seconds:g} s.", transient=True) from None
        except Exception as error:  # the search library's errors share no base class
            raise ToolError(f"The web search failed ({type(error).__name__}).", transient=True) from error

    def run(**given: Any) -> tuple[str, list[Passage]]:
        return run_sync(find(**given))

    return StructuredTool.from_function(
        run,
        find,
        name=name,
        description="Searches the web; returns titles, addresses and excerpts of pages. For what is recent or public.",
        args_schema=schema([_QUERY]),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _engine() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from langchain_community.utilities.duckduckgo_search import DuckDuckGoSearchAPIWrapper
        return DuckDuckGoSearchAPIWrapper(time=None, backend="duckduckgo")
    except ImportError as error:
        raise MissingExtra('Web search needs the extra "web": pip install "langgraph-evidence[web]".') from error


def _pack(rows: list[dict[str, str]], k: int) -> tuple[str, list[Passage]]:
    passages = []
    for row in rows[:k]:
        title, text = row.get("title", ""), row.get("snippet", "")
        if text.strip():
            passages.append(Passage(id=row.get("link") or content_id(title, text), title=title, text=text))
    lines = [
        f"[{number}] {passage_line(passage)} ({passage['id']})" for number, passage in enumerate(passages, start=1)
    ]
    return "\n".join(lines) or "Nothing was found.", passages
