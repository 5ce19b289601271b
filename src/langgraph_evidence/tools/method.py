"""A method's graph as an agent's tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.config import get_stream_writer

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.run import Answered
from langgraph_evidence.telling import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from langgraph_evidence.citations import CitedBy
    from langgraph_evidence.settings import Settings

    Graph = CompiledStateGraph[Any, Any, Any, Any]

# A method ends by its own iterations and budget. What calls a tool hands down a limit of its own steps, LangChain's 25
# among them, which must not end a run half way.
UNBOUNDED: RunnableConfig = {"recursion_limit": 10_000}
ARTIFACT_KEYS = (*Answered.__annotations__, "evidence")


def as_tool(
    graph: Graph, *, name: str, description: str, settings: Settings | None = None, relay: bool = False
) -> BaseTool:
    """Makes a tool that answers by a method: its content is text for the model, its artifact data for the application.

    The content is the answer and its numbered sources. Of an answer that the evidence does not support it says that
    and why, not what it was, unless the settings ask for the guess, and then it is called unverified. The artifact
    holds answer, citations, sentences, support, conflicts, cited_by, guess, stopped, usage and evidence. Inside an
    agent the run is checkpointed with the agent's own.

    Args:
        graph: A compiled graph of any method.
        name: The tool's name, as the agent's model calls it.
        description: When to use it, for the agent's model.
        settings: The settings of every run; what the graph was built with when none are given.
        relay: Whether the run's events are sent on to the stream of the graph that calls the tool.

    Raises:
        InvalidInput: The graph takes more than one input, or is none of a method.
    """
    key = input_key(graph)
    run = _ToolRun(graph, run_context(graph, settings), relay=relay)
    return StructuredTool.from_function(
        run.sync,
        run.asynchronous,
        name=name,
        description=description,
        args_schema={
            "type": "object",
            "properties": {key: {"type": "string", "description": f"The {key}, complete in itself."}},
            "required": [key],
        },
        response_format="content_and_artifact",
        # Only what the agent's model can mend is told to it; any other error is the application's.
        handle_tool_error=True,
    )


@dataclass(frozen=True)
class _ToolRun:
    """A run of a graph in both colours, told as content and artifact."""

    graph: Graph
    context: Any
    relay: bool

    def sync(self, **given: str) -> tuple[str, dict[str, Any]]:
        try:
            if self.relay:
                return _pack(_drive(self.graph, given, self.context))
            return _pack(self.graph.invoke(given, UNBOUNDED, context=self.context))
        except InvalidInput as error:
            raise ToolException(str(error)) from error

    async def asynchronous(self, **given: str) -> tuple[str, dict[str, Any]]:
        try:
            if self.relay:
                return _pack(await _adrive(self.graph, given, self.context))
            return _pack(await self.graph.ainvoke(given, UNBOUNDED, context=self.context))
        except InvalidInput as error:
            raise ToolException(str(error)) from error


def run_context(graph: Graph, settings: Settings | None) -> Any:
    """The settings of a graph's run; always explicit, since without them it would see the context of its caller."""
    schema = graph.context_schema
    return settings if settings is not None else schema() if schema is not None else None


def input_key(graph: Graph) -> str:
    """The one input of a method's graph: its question or its claim.

    Raises:
        InvalidInput: The graph takes another number of inputs.
    """
    keys = list(graph.get_input_jsonschema().get("properties", {}))
    if len(keys) != 1:
        raise InvalidInput(f"A tool is made of a graph with one input, as every method has; this one takes {keys}.")
    return str(keys[0])


def _pack(output: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    artifact = {key: output[key] for key in ARTIFACT_KEYS if key in output}
    if output.get("guess") is not None:
        return declined(output), artifact
    if not output.get("answer"):
        return f"No answer was found (stopped: {output.get('stopped')}).", artifact
    sources = [
        f'[{number}] {clean(citation["title"])} ({clean(citation["passage_id"])}): "{clean(citation["quote"])}"'
        for number, citation in enumerate(output.get("citations", []), start=1)
    ]
    parts = [output["answer"], *([f"\n{_SOURCES[output.get('cited_by', 'lexical')]}", *sources] if sources else [])]
    if not (output.get("evidence") or sources):
        parts.append("\nWithout evidence: the model answered from what it knows, and nothing was found to prove it.")
    return "\n".join(parts), artifact


_SOURCES: dict[CitedBy, str] = {
    "verified": "Sources:",
    "lexical": "Sources (chosen by shared words; nothing checked that they support it):",
}


def declined(output: Mapping[str, Any]) -> str:
    """What a reader is told of an answer that the evidence does not support: the guess itself only on request."""
    guess = output["guess"]
    # The reason for too little support quotes the guess, which a model would take for an answer.
    measured = guess["sentences"] and output["cited_by"] == "verified" and output.get("evidence")
    if output["answer"]:
        return f"Unverified guess: {output['answer']}\n\nIt is not to be relied on: {guess['why']}"
    why = f"its support is {guess['support']:.2f} of 1." if measured else guess["why"]
    return f"No answer is given: the evidence does not support the one that was found. Why: {why}"


_MODES: list[Literal["custom", "values"]] = ["custom", "values"]


def _writer() -> Callable[[Any], None]:
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):  # called outside a graph: nobody listens
        return lambda _event: None


def _drive(graph: Graph, given: dict[str, str], context: Any) -> dict[str, Any]:
    write, output = _writer(), {}
    parts: Any = graph.stream(given, UNBOUNDED, context=context, stream_mode=_MODES)
    for mode, part in parts:
        if mode == "custom":
            write(part)
        else:
            output = part
    return output


async def _adrive(graph: Graph, given: dict[str, str], context: Any) -> dict[str, Any]:
    write, output = _writer(), {}
    parts: Any = graph.astream(given, UNBOUNDED, context=context, stream_mode=_MODES)
    async for mode, part in parts:
        if mode == "custom":
            write(part)
        else:
            output = part
    return output
