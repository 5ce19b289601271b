"""The tools of a run: what the model is told of them, whether an input fits, and one use of one tool."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import TypeAdapter, ValidationError

from langgraph_evidence.concurrency import call_either
from langgraph_evidence.errors import EvidenceError, InvalidInput, UnusableReply
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.methods.rebel.state import ToolReply
from langgraph_evidence.text import storable
from langgraph_evidence.tools.json_schema import kind, misfit, plain, told
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_REASON = 500


class Used(NamedTuple):
    """What one use of a tool came to: a reply, or why its input was refused, or why it failed for good."""

    reply: ToolReply | None = None
    refused: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Toolbox:
    """The tools that a run may use.

    Args:
        tools: With names of their own.

    Raises:
        InvalidInput: Two tools have one name, or something is no tool.
    """

    tools: tuple[BaseTool, ...]

    def __post_init__(self) -> None:
        for tool in self.tools:
            if not isinstance(tool, BaseTool):
                raise InvalidInput(f"A {type(tool).__name__} was given as a tool; give LangChain tools.")
        names = [tool.name for tool in self.tools]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InvalidInput(f"Two tools are named {twice[0]!r}; give each a name of its own.")

    @cached_property
    def names(self) -> list[str]:
        """The tools' names, in their order; a tool's number is its place, counted from 1."""
        return [tool.name for tool in self.tools]

    def listing(self) -> list[str]:
        """What the model sees of the tools, in the order of their numbers: descriptions alone."""
        return [self.describe(name) for name in self.names]

    def describe(self, name: str) -> str:
        """A tool's description."""
        return quote(self._tool(name).description, limit=600)

    def parameters(self, name: str) -> dict[str, Any]:
        """The JSON schemas of a tool's parameters by name, references put in."""
        fields = self._schema(name).get("properties")
        return fields if isinstance(fields, dict) else {}

    def described(self, name: str) -> list[dict[str, Any]]:
        """A tool's parameters as the model sees them: each name with its meaning, its type, and all that it takes."""
        required = self._required(name)
        return [_described(key, field, required=key in required) for key, field in self.parameters(name).items()]

    def idempotent(self, name: str) -> bool:
        """Whether a use may be repeated without harm; a tool says no by `metadata={"idempotent": False}`."""
        return (self._tool(name).metadata or {}).get("idempotent") is not False

    def check(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, when they fit the declared parameters.

        Raises:
            UnusableReply: One is unknown, missing or of another type; the reason can be sent to the model.
        """
        known = self.parameters(name)
        named = ", ".join(known) or "none"
        unknown = [key for key in arguments if key not in known]
        missing = [key for key in self._required(name) if key not in arguments]
        if unknown:
            raise UnusableReply(f"There is no parameter {unknown[0][:80]!r}; the parameters are: {named}.")
        if missing:
            raise UnusableReply(f"The parameter {missing[0]!r} is missing; the parameters are: {named}.")
        for key, value in arguments.items():
            problem = misfit(value, known[key])
            if problem:
                raise UnusableReply(f"The parameter {key!r} {problem}.")
        return dict(arguments)

    async def use(self, name: str, arguments: Mapping[str, Any], *, seconds: float, limit: int) -> Used:
        """Uses a tool once.

        Args:
            name: Of the tool.
            arguments: Checked arguments.
            seconds: The time it may take.
            limit: Characters of its reply that are kept.
        """
        tool = self._tool(name)
        call = {"name": name, "args": dict(arguments), "id": name, "type": "tool_call"}
        try:
            async with asyncio.timeout(seconds):
                message = await _invoke(tool, call)
        except GraphBubbleUp:
            raise
        except (ToolException, ValidationError, InvalidInput) as error:
            return Used(refused=quote(str(error), limit=_LONGEST_REASON))
        except TimeoutError:
            return Used(failed=f"The tool {name} took more than {seconds:g} seconds.")
        except EvidenceError as error:
            return Used(failed=quote(str(error), limit=_LONGEST_REASON))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is no answer
            # The text of a foreign error may hold an address with a key in it.
            return Used(failed=f"The tool {name} failed: {type(error).__name__}.")
        return _used(name, message, limit=limit)

    def _tool(self, name: str) -> BaseTool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise InvalidInput(f"The run uses a tool {name!r} that this graph was not given: {', '.join(self.names)}.")

    def _required(self, name: str) -> list[str]:
        required = self._schema(name).get("required")
        return [key for key in required if isinstance(key, str)] if isinstance(required, list) else []

    def _schema(self, name: str) -> dict[str, Any]:
        return self._schemas[self._tool(name).name]

    @cached_property
    def _schemas(self) -> dict[str, dict[str, Any]]:
        schemas = {tool.name: tool.tool_call_schema for tool in self.tools}
        return {
            name: plain(schema if isinstance(schema, dict) else TypeAdapter(schema).json_schema())
            for name, schema in schemas.items()
        }


async def _invoke(tool: BaseTool, call: dict[str, Any]) -> Any:
    """Calls the tool as the run is called; one that has no synchronous face, as those over MCP, is always awaited."""
    if isinstance(tool, StructuredTool) and tool.func is None:
        return await tool.ainvoke(call)
    return await call_either(tool.invoke, tool.ainvoke, call)


def _used(name: str, message: Any, *, limit: int) -> Used:
    if not isinstance(message, ToolMessage):
        return Used(ToolReply(tool=name, text=storable(str(message))[:limit], passages=[]))
    text = storable(str(message.text))[:limit]
    if message.status == "error":
        return Used(refused=quote(text, limit=_LONGEST_REASON))
    artifact = message.artifact if isinstance(message.artifact, list) else []
    reply = ToolReply(tool=name, text=text, passages=[_passage(item) for item in artifact if _is_passage(item)])
    if message.artifact == []:
        reply["nothing_found"] = True
    return Used(reply)


def _is_passage(item: object) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(key), str) for key in ("id", "title", "text"))


def _passage(item: Mapping[str, Any]) -> Passage:
    passage = Passage(id=storable(item["id"]), title=storable(item["title"]), text=storable(item["text"]))
    score = item.get("score")
    if isinstance(score, int | float):
        passage["score"] = float(score)
    return passage


def _described(key: str, field: Any, *, required: bool) -> dict[str, Any]:
    meaning = field.get("description") if isinstance(field, dict) else None
    meant = quote(str(meaning or key), limit=200)
    return {"name": key, "meaning": meant, "type": kind(field), "takes": told(field), "required": required}
