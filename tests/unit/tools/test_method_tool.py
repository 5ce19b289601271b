"""A method as a tool and behind a chat: alone, in an agent, relayed, checkpointed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from langgraph_evidence import FurepaSettings, create_furepa, retriever_for
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.tools import as_chat, as_tool, search_tool
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langgraph.graph.state import CompiledStateGraph

PASSAGES = [
    Passage(id="p1", title="Eiffel Tower", text="The Eiffel Tower stands in Paris. It was built by Gustave Eiffel."),
    Passage(id="p2", title="Gustave Eiffel", text="Gustave Eiffel was born in Dijon."),
]
QUESTION = "Where was the builder of the Eiffel Tower born?"
RULES = [
    (r"born in Dijon", "[Analysis] Eiffel built it and was born in Dijon.\n[Answer] Dijon"),
    (r"Gustave Eiffel", "[Analysis] Eiffel built it.\n[Search] Where was Gustave Eiffel born?"),
    (r"", "[Search] Who built the Eiffel Tower?"),
]


def method(settings: FurepaSettings | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    model = ScriptedChat(rules=RULES)
    return create_furepa(model, retriever_for(PASSAGES), settings=settings or FurepaSettings(samples=2)).compile()


def tool_of(**options: Any) -> BaseTool:
    return as_tool(method(), name="furepa", description="Answers multi-hop questions.", **options)


def call(**arguments: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": "1", "name": "furepa", "args": arguments}


class TestStandard(ToolsUnitTests):
    @property
    def tool_constructor(self) -> BaseTool:
        return tool_of()

    @property
    def tool_invoke_params_example(self) -> dict[str, str]:
        return {"question": QUESTION}


def test_the_content_is_the_answer_with_its_sources_and_the_artifact_is_data() -> None:
    message = tool_of().invoke(call(question=QUESTION))
    assert isinstance(message, ToolMessage)
    answer, _, sources = str(message.content).partition("\n\nSources:\n")
    assert answer == "Dijon"
    assert '[1] Gustave Eiffel (p2): "Gustave Eiffel was born in Dijon."' in sources
    shown = {"answer", "citations", "sentences", "support", "conflicts", "cited_by", "guess"}
    assert set(message.artifact) == shown | {"evidence", "usage", "stopped"}
    assert [passage["id"] for passage in message.artifact["evidence"]] == ["p1", "p2"]
    assert message.artifact["stopped"] == "answered"
    assert message.artifact["usage"]["calls"] == 6


async def test_it_gives_the_same_asynchronously() -> None:
    tool = tool_of()
    there, here = await tool.ainvoke(call(question=QUESTION)), tool.invoke(call(question=QUESTION))
    assert there.content == here.content
    assert there.artifact["citations"] == here.artifact["citations"]


def test_settings_of_the_tool_go_before_those_of_the_graph() -> None:
    message = tool_of(settings=FurepaSettings(samples=1)).invoke(call(question=QUESTION))
    assert message.artifact["usage"]["calls"] == 3


@pytest.mark.parametrize("relay", [True, False])
async def test_a_long_run_is_not_ended_by_the_callers_limit_of_steps(relay: bool) -> None:
    search = ScriptedChat(rules=[("", ["[Search] Eiffel", "[Search] the tower in Paris by Eiffel", "[Search] Dijon"])])
    settings = FurepaSettings(samples=1, iterations=40, assess=False)
    graph = create_furepa(search, retriever_for(PASSAGES), settings=settings).compile()
    tool = as_tool(graph, name="furepa", description="Answers.", relay=relay)
    assert tool.invoke(call(question=QUESTION)).artifact["stopped"] == "no_answer"
    assert (await tool.ainvoke(call(question=QUESTION))).artifact["stopped"] == "no_answer"
    chat = as_chat(graph).compile()
    limit: Any = {"recursion_limit": 25}
    assert chat.invoke({"messages": [HumanMessage(QUESTION)]}, limit)["messages"][-1].text == ""
    assert (await chat.ainvoke({"messages": [HumanMessage(QUESTION)]}, limit))["messages"][-1].text == ""


def test_a_run_without_an_answer_says_so() -> None:
    message = tool_of(settings=FurepaSettings(samples=2, max_calls=1)).invoke(call(question=QUESTION))
    assert message.content == "No answer was found (stopped: budget)."
    assert message.artifact["answer"] == ""


async def test_what_the_model_can_mend_is_told_to_it() -> None:
    for message in (tool_of().invoke(call(question=" ")), await tool_of().ainvoke(call(question=" "))):
        assert message.status == "error"
        assert "non-empty 'question'" in message.content


def test_a_graph_of_another_kind_is_refused() -> None:
    class Two(TypedDict):
        a: str
        b: str

    builder = StateGraph(Two)
    builder.add_node("n", lambda state: state)
    builder.set_entry_point("n")
    with pytest.raises(InvalidInput, match="one input"):
        as_tool(builder.compile(), name="x", description="y")


@dataclass
class HostContext:
    """Some application's own context; it has a field that the method's settings have too."""

    samples: int = 64


def agent(tool: BaseTool, **options: Any) -> Any:
    ask = AIMessage("", tool_calls=[{"name": tool.name, "args": {"question": QUESTION}, "id": "call-1"}])
    return create_agent(ScriptedChat(rules=[("Sources:", "In Dijon."), ("", ask)]), [tool], **options)


def test_an_agent_calls_it_and_keeps_it_on_its_own_thread() -> None:
    host = agent(tool_of(), checkpointer=InMemorySaver(), context_schema=HostContext)
    config = {"configurable": {"thread_id": "t"}}
    output = host.invoke({"messages": [("user", QUESTION)]}, config, context=HostContext())
    assert output["messages"][-1].text == "In Dijon."
    told = next(message for message in output["messages"] if isinstance(message, ToolMessage))
    assert told.artifact["usage"]["calls"] == 6
    kept = host.get_state(config).values["messages"]
    assert next(message for message in kept if isinstance(message, ToolMessage)).artifact == told.artifact


@pytest.mark.parametrize("relay", [True, False])
def test_events_reach_the_stream_of_the_host_when_they_are_relayed(relay: bool) -> None:
    events = list(agent(tool_of(relay=relay)).stream({"messages": [("user", QUESTION)]}, stream_mode="custom"))
    kinds = [event["type"] for event in events]
    assert (kinds[:1] == ["furepa.plans"] and kinds[-1] == "furepa.answer") if relay else kinds == []


async def test_events_are_relayed_asynchronously_too() -> None:
    stream = agent(tool_of(relay=True)).astream({"messages": [("user", QUESTION)]}, stream_mode="custom")
    assert [event["type"] async for event in stream][-1] == "furepa.answer"


def test_relaying_outside_a_graph_just_answers() -> None:
    assert tool_of(relay=True).invoke(call(question=QUESTION)).artifact["answer"] == "Dijon"


async def test_a_chat_answers_the_last_human_message_with_a_cited_one() -> None:
    chat = as_chat(method()).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    output = chat.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    assert [message.type for message in output["messages"]] == ["human", "ai"]
    reply = output["messages"][-1]
    assert reply.text == "Dijon"
    assert reply.content_blocks[0]["annotations"][0]["title"] == "Gustave Eiffel"
    again = await as_chat(method()).compile().ainvoke({"messages": [HumanMessage(QUESTION)]})
    assert again["messages"][-1].text == "Dijon"


def test_a_chat_without_a_question_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no human message"):
        as_chat(method()).compile().invoke({"messages": [AIMessage("Hello.")]})


async def test_search_numbers_passages_for_the_model_and_gives_them_as_data() -> None:
    tool = search_tool(retriever_for(PASSAGES), k=1)
    for message in (
        tool.invoke({"type": "tool_call", "id": "1", "name": "search", "args": {"query": "Who was born in Dijon?"}}),
        await tool.ainvoke({"type": "tool_call", "id": "1", "name": "search", "args": {"query": "born in Dijon"}}),
    ):
        assert message.content == "[1] Gustave Eiffel was born in Dijon. (p2)"
        assert [passage["id"] for passage in message.artifact] == ["p2"]


def test_search_tells_an_empty_query_and_an_empty_result() -> None:
    tool = search_tool(retriever_for(PASSAGES))
    empty = tool.invoke({"type": "tool_call", "id": "1", "name": "search", "args": {"query": " "}})
    assert empty.status == "error"
    nothing = tool.invoke({"type": "tool_call", "id": "1", "name": "search", "args": {"query": "zebra"}})
    assert nothing.content == "Nothing was found."
    assert nothing.artifact == []
