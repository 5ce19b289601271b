"""Samples, log-probabilities and usage come right, and nothing leaks, whichever way a graph is streamed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_evidence.concurrency import node
from langgraph_evidence.events import emit
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.loopback import serve
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("demo", (("human", "Say $word"),), ("word",))
SCRIPT = [("Say hi", ["one two", "three four", "five six"])]
TEXTS = ["one two", "three four", "five six"]


class State(TypedDict, total=False):
    word: str
    single: list[dict[str, Any]]
    native: list[dict[str, Any]]
    asked: str


def graph_over(chat: Any) -> Any:
    model = LanguageModel(chat)

    async def draw(state: State) -> State:
        found: State = {}
        for name in ("single", "native"):
            samples = await model.sample(
                PROMPT, {"word": state["word"]}, n=3, seeds=[0, 1, 2], logprobs=True, native=name == "native"
            )
            found[name] = [
                {"text": sample.text, "tokens": len(sample.logprobs or []), "usage": sample.usage["output_tokens"]}
                for sample in samples
            ]
        found["asked"] = (await model.ask(PROMPT, {"word": state["word"]}, parse=str)).value
        emit("demo.done", {"texts": len(found)})
        return found

    builder = StateGraph(State)
    builder.add_node("draw", node(draw))
    builder.add_edge(START, "draw")
    builder.add_edge("draw", END)
    return builder.compile()


@pytest.fixture(scope="module")
def server() -> Any:
    with serve(ScriptedChat(rules=SCRIPT)) as running:
        yield running


@pytest.fixture(params=["scripted", "openai", "openai streaming", "v1 content"])
def chat(request: pytest.FixtureRequest, server: Any) -> Any:
    if request.param == "scripted":
        return ScriptedChat(rules=SCRIPT)
    known: dict[str, Any] = {"openai streaming": {"streaming": True}, "v1 content": {"output_version": "v1"}}
    extra = known.get(request.param, {})
    return ChatOpenAI(model="tiny", base_url=server.base_url, api_key="sk-none", **extra)


def check(state: Any) -> None:
    assert [row["text"] for row in state["single"]] == TEXTS
    assert [row["text"] for row in state["native"]] == TEXTS
    assert {row["tokens"] for row in [*state["single"], *state["native"]]} == {2}
    assert sum(row["usage"] for row in state["single"]) == sum(row["usage"] for row in state["native"]) == 6
    assert state["asked"] == "one two"


MODES = ["values", "updates", "messages", "custom", "debug", "tasks", ["values", "messages", "custom"]]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_stream(chat: Any, mode: Any) -> None:
    modes = sorted({"values", *([mode] if isinstance(mode, str) else mode)})
    events = list(graph_over(chat).stream({"word": "hi"}, stream_mode=modes))
    check([data for kind, data in events if kind == "values"][-1])
    assert [data for kind, data in events if kind == "messages"] == []
    if "custom" in modes:
        assert [data["type"] for kind, data in events if kind == "custom"] == ["demo.done"]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_astream(chat: Any, mode: Any) -> None:
    modes = sorted({"values", *([mode] if isinstance(mode, str) else mode)})
    events = [event async for event in graph_over(chat).astream({"word": "hi"}, stream_mode=modes)]
    check([data for kind, data in events if kind == "values"][-1])
    assert [data for kind, data in events if kind == "messages"] == []


async def test_astream_events(chat: Any) -> None:
    events = [event async for event in graph_over(chat).astream_events({"word": "hi"}, version="v2")]
    check(events[-1]["data"]["output"])
    starts = [event for event in events if event["event"] == "on_chat_model_start"]
    assert len(starts) >= 5
    assert all("nostream" in event["tags"] for event in starts)


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
def test_stream_events_v3(chat: Any) -> None:
    run = graph_over(chat).stream_events({"word": "hi"}, version="v3")
    assert list(run.messages) == []
    check(run.output)


def test_invoke_and_ainvoke(chat: Any) -> None:
    graph = graph_over(chat)
    check(graph.invoke({"word": "hi"}))
    check(asyncio.run(graph.ainvoke({"word": "hi"})))
