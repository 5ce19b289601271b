"""Search over passages as an agent's tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.retrieval.search import search
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.types import Passage


def search_tool(
    retriever: BaseRetriever,
    *,
    name: str = "search",
    description: str = "Searches a collection of passages and returns the most relevant ones.",
    k: int = 5,
) -> BaseTool:
    """Makes a tool that finds passages: its content numbers them for the model, its artifact is the list of them.

    Args:
        retriever: Where the passages come from.
        name: The tool's name, as the agent's model calls it.
        description: When to use it, for the agent's model.
        k: How many passages a call returns at most.
    """

    async def find(query: str) -> tuple[str, list[Passage]]:
        if not query.strip():
            raise ToolException("The query is empty; give some words to search for.")
        return _pack(await search(retriever, query, k=k))

    def run(query: str) -> tuple[str, list[Passage]]:
        return run_sync(find(query))

    return StructuredTool.from_function(
        run,
        find,
        name=name,
        description=description,
        args_schema={
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to search for."}},
            "required": ["query"],
        },
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _pack(passages: list[Passage]) -> tuple[str, list[Passage]]:
    lines = [
        f"[{number}] {passage_line(passage)} ({passage['id']})" for number, passage in enumerate(passages, start=1)
    ]
    return "\n".join(lines) or "Nothing was found.", passages
