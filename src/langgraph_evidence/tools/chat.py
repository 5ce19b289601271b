"""A method's graph behind messages, as chat front ends and agent-to-agent calls expect it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.messages.content import create_text_block
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.tools.method import UNBOUNDED, declined, input_key, run_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph.graph.state import CompiledStateGraph

    from langgraph_evidence.settings import Settings


class ChatState(TypedDict):
    """A conversation: the last human message is the question, the reply is appended."""

    messages: Annotated[list[AnyMessage], add_messages]


def as_chat(
    graph: CompiledStateGraph[Any, Any, Any, Any], *, settings: Settings | None = None
) -> StateGraph[ChatState, Any, ChatState, ChatState]:
    """Wraps a graph so that it takes messages and replies with one that carries its citations.

    Of an answer that the evidence does not support the reply says so; a guess that the settings ask for is followed by
    a block that calls it unverified.

    Args:
        graph: A compiled graph of any method.
        settings: The settings of every run; what the graph was built with when none are given.

    Raises:
        InvalidInput: The graph is none of a method.
    """
    key = input_key(graph)
    context = run_context(graph, settings)

    def reply(state: ChatState) -> ChatState:
        return _update(graph.invoke({key: _question(state)}, UNBOUNDED, context=context))

    async def areply(state: ChatState) -> ChatState:
        return _update(await graph.ainvoke({key: _question(state)}, UNBOUNDED, context=context))

    builder = StateGraph(ChatState)
    builder.add_node("reply", RunnableLambda(reply, afunc=areply))
    builder.add_edge(START, "reply")
    builder.add_edge("reply", END)
    return builder


def _question(state: ChatState) -> str:
    asked = [message.text for message in state["messages"] if message.type == "human"]
    if not asked:
        raise InvalidInput("The conversation has no human message to answer.")
    return str(asked[-1])


def _update(output: Mapping[str, Any]) -> ChatState:
    message = output["messages"][-1]
    if output.get("guess") is None:
        return ChatState(messages=[message])
    blocks = message.content_blocks if output["answer"] else []
    said = f"\n\n(Unverified: {output['guess']['why']})" if output["answer"] else declined(output)
    return ChatState(messages=[AIMessage(content_blocks=[*blocks, create_text_block(said)], name=message.name)])
