"""One body of code behind every face: called, awaited, streamed, nested, as a tool, as a chat."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from cases import CASES, Case
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_evidence.run import RunOutput
from langgraph_evidence.tools import as_chat, as_tool


def told(output: dict[str, Any]) -> dict[str, Any]:
    """What two runs of the same question must have in common."""
    same = {key: value for key, value in output.items() if key not in {"messages", "usage"}}
    return {**same, "text": output["messages"][0].text, "calls": output["usage"]["calls"]}


async def test_called_awaited_and_streamed_it_gives_the_same_even_inside_a_running_loop(case: Case) -> None:
    given, outputs = case.given(), []
    outputs.append(await case.graph().ainvoke(given))
    outputs.append(case.graph().invoke(given))
    outputs.append(await asyncio.to_thread(case.graph().invoke, given))
    outputs.append(list(case.graph().stream(given, stream_mode="values"))[-1])
    outputs.append([part async for part in case.graph().astream(given, stream_mode="values")][-1])
    keys = set(outputs[0])
    for output in outputs:
        assert told({key: output[key] for key in keys}) == told(outputs[0])
    assert (outputs[0]["answer"], outputs[0]["stopped"]) == (case.answer, "answered")


@pytest.mark.parametrize("mode", ["values", "updates", "messages", "custom", "tasks", "debug", "checkpoints"])
async def test_every_stream_mode_works_and_no_planning_token_leaks(case: Case, mode: Any) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    streamed = [part async for part in graph.astream(case.given(), config, stream_mode=mode)]
    assert streamed
    if mode == "messages":
        assert [message.text for message, _ in streamed if message.type == "ai"] == [case.answer]


async def test_the_events_of_langchain_end_with_the_output(case: Case) -> None:
    # LangChain's own limit of 25 steps holds here where none is given.
    async for event in case.graph().astream_events(case.given(), {"recursion_limit": 100}, version="v2"):
        last = event
    assert last["data"]["output"]["answer"] == case.answer


def test_as_a_node_of_another_graph_it_does_not_read_that_ones_context(case: Case) -> None:
    key = case.method.input_key
    host_state: Any = TypedDict("host_state", {key: str, "answer": str})  # type: ignore[misc]  # the key is the method's
    host: Any = StateGraph(host_state, context_schema=dict)
    host.add_node("method", case.builder().compile())
    host.add_edge(START, "method")
    host.add_edge("method", END)
    config: Any = {"configurable": {"thread_id": "1"}}
    output = host.compile(checkpointer=InMemorySaver()).invoke(case.given(), config, context={"tenant": "x"})
    assert output["answer"] == case.answer


def test_a_chain_of_langchain_gets_the_answer_or_is_told_of_its_limit_of_steps(case: Case) -> None:
    chain = case.graph() | RunnableLambda(lambda output: (output["answer"], output["stopped"]))
    answer, stopped = chain.invoke(case.given())
    assert stopped == "step_limit" or (answer, stopped) == (case.answer, "answered")
    assert answer
    assert chain.invoke(case.given(), {"recursion_limit": 100}) == (case.answer, "answered")


@pytest.mark.parametrize("relay", [True, False])
async def test_as_a_tool_it_gives_the_answer_with_its_sources_and_data(case: Case, relay: bool) -> None:
    tool = as_tool(case.graph(), name=case.method.name, description="Answers.", relay=relay)
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": case.given()}
    for message in (tool.invoke(call), await tool.ainvoke(call)):
        assert message.content.startswith(f"{case.answer}\n\nSources:\n[1] ")
        assert set(message.artifact) == set(RunOutput.__annotations__) - {"messages"}
    refused = await tool.ainvoke({**call, "args": case.given(" ")})
    assert refused.status == "error"
    assert f"non-empty {case.method.input_key!r}" in refused.content


async def test_behind_a_chat_it_answers_the_last_message(case: Case) -> None:
    chat = as_chat(case.graph()).compile()
    asked: Any = {"messages": [HumanMessage(case.question)]}
    for output in (chat.invoke(asked), await chat.ainvoke(asked)):
        reply = output["messages"][-1]
        assert reply.text == case.answer
        assert reply.content_blocks[0]["annotations"]


async def test_runs_of_all_methods_at_the_same_time_do_not_mix() -> None:
    cases = [make() for make in CASES.values()] * 3
    slow = [case.graph(case.script(latency=0.005)) for case in cases]
    outputs = await asyncio.gather(
        *(graph.ainvoke(case.given()) for case, graph in zip(cases, slow, strict=True)),
        *(asyncio.to_thread(graph.invoke, case.given()) for case, graph in zip(cases, slow, strict=True)),
    )
    alone = [case.graph().invoke(case.given()) for case in cases]
    assert [told(output) for output in outputs] == [told(output) for output in alone * 2]
