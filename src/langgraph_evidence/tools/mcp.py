"""Tools over the Model Context Protocol, both ways: those of a server for REBEL, and ours for any client.

The client is fastmcp's; what makes LangChain tools of a server's is ours: langchain-mcp-adapters 0.3.2 needs mcp 1 and
fastmcp 4 needs mcp 2; `langchain.mcp` is beta, needs fastmcp 4, and its tools run asynchronously alone.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import EvidenceError, MissingExtra, ToolError
from langgraph_evidence.tools.declarative import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langgraph.graph.state import CompiledStateGraph

MAX_CHARACTERS = 15_000
_DESCRIPTION = 1_000


@contextmanager
def mcp_tools(source: Any, *, seconds: float = 30.0) -> Iterator[list[BaseTool]]:
    """The tools of an MCP server, for as long as the block runs.

    The connection lives on a loop of its own, so that the tools serve synchronous and asynchronous runs alike. A tool
    that its server does not call harmless to repeat has `metadata={"idempotent": False}`. A server is trusted with what
    its tools are asked: connect to those that are yours.

    Args:
        source: What `fastmcp.Client` takes: a URL, a path of a server's script, a configuration, or a server.
        seconds: How long a connection or a call may take.

    Yields:
        The tools; a call's content is the text of the reply, its artifact the structured one, where there is any.

    Raises:
        MissingExtra: The extra `mcp` is not installed.
        ToolError: The server cannot be reached.
    """
    client = _fastmcp().Client(source, timeout=seconds, init_timeout=seconds)
    try:
        run_sync(client.__aenter__())
        rows = run_sync(client.list_tools())
    except Exception as error:
        _close(client)
        raise ToolError(f"The MCP server cannot be used: {type(error).__name__}.", transient=True) from error
    try:
        yield [_adapt(client, row) for row in rows if NAME.fullmatch(row.name)]
    finally:
        _close(client)


def _close(client: Any) -> None:
    """Ends the connection, and the server's process where there is one; a connection that failed says so once more."""
    with suppress(Exception):
        run_sync(client.close())


def _fastmcp() -> Any:
    try:
        import fastmcp
    except ImportError as error:
        raise MissingExtra('MCP needs the extra "mcp": pip install "langgraph-evidence[mcp]".') from error
    return fastmcp


def _adapt(client: Any, row: Any) -> BaseTool:
    async def call(given: dict[str, Any]) -> tuple[str, Any]:
        try:
            reply = await client.call_tool(row.name, given, raise_on_error=False)
        except Exception as error:
            raise ToolError(f"The tool {row.name!r} failed: {type(error).__name__}.", transient=True) from error
        text = "\n".join(part.text for part in reply.content if getattr(part, "type", "") == "text")[:MAX_CHARACTERS]
        if reply.is_error:
            raise ToolException(text or f"The tool {row.name!r} failed without saying why.")
        return text, reply.structured_content

    def run(**given: Any) -> tuple[str, Any]:
        return run_sync(call(given))

    async def arun(**given: Any) -> tuple[str, Any]:
        return await asyncio.to_thread(run_sync, call(given))

    wire = row.model_dump(by_alias=True)
    hints = wire.get("annotations") or {}
    harmless = bool(hints.get("readOnlyHint") or hints.get("idempotentHint"))
    return StructuredTool.from_function(
        run,
        arun,
        name=row.name,
        description=(row.description or row.name)[:_DESCRIPTION],
        args_schema={"type": "object", "properties": {}, **(wire.get("inputSchema") or {})},
        response_format="content_and_artifact",
        handle_tool_error=True,
        metadata=None if harmless else {"idempotent": False},
    )


def publish(server: Any, tool: BaseTool) -> None:
    """Adds a tool to a `fastmcp.FastMCP` server: its content as text, its artifact as the structured result.

    A tool that relays a run's events (`as_tool(..., relay=True)`) tells each to the client as progress.

    Args:
        server: The server.
        tool: Any LangChain tool.
    """
    from fastmcp.tools import Tool

    stage = _stage(tool)

    class Published(Tool):
        """A LangChain tool behind fastmcp's interface."""

        async def run(self, arguments: dict[str, Any]) -> Any:
            """Calls the tool; what other arguments could mend, and what failed, is told to the client."""
            return await _told(stage, arguments)

    schema: Any = tool.tool_call_schema
    server.add_tool(
        Published(
            name=tool.name,
            description=tool.description,
            parameters=dict(schema) if isinstance(schema, dict) else schema.model_json_schema(),
            annotations={"idempotentHint": (tool.metadata or {}).get("idempotent", True)},
        )
    )


async def _told(stage: CompiledStateGraph[Any, Any, Any, Any], arguments: dict[str, Any]) -> Any:
    """A tool's result as fastmcp's, its events told as progress on the way."""
    from fastmcp.exceptions import ToolError as Refused
    from fastmcp.server.dependencies import get_context
    from fastmcp.tools import ToolResult

    steps = 0
    message: Any = None
    part: Any
    try:
        async for mode, part in stage.astream({"arguments": arguments}, stream_mode=["custom", "values"]):
            if mode == "custom":
                steps += 1
                await get_context().report_progress(steps, message=str(part.get("type", "")))
            else:
                message = part.get("message")
    except EvidenceError as error:
        raise Refused(str(error)) from None
    if message is None or message.status == "error":
        raise Refused(message.text if message else "The tool gave no result.")
    return ToolResult(content=str(message.text), structured_content=_structured(message))


class _Stage(TypedDict, total=False):
    arguments: dict[str, Any]
    message: Any


def _stage(tool: BaseTool) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A graph that uses the tool once: within one, a tool's events have somewhere to go."""

    async def use(state: _Stage) -> _Stage:
        call = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": state["arguments"]}
        return {"message": await tool.ainvoke(call)}

    builder = StateGraph(_Stage)
    builder.add_node("use", use)
    builder.add_edge(START, "use")
    builder.add_edge("use", END)
    return builder.compile()


def _structured(message: Any) -> dict[str, Any]:
    if message.artifact is None:
        return {"text": str(message.text)}
    return message.artifact if isinstance(message.artifact, dict) else {"results": message.artifact}
