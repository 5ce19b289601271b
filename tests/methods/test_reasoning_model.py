"""Both methods with default settings over a server with gpt-5-mini's rules, through ChatOpenAI."""

from __future__ import annotations

from typing import Any

import pytest
from furepa_world import QUESTION, FixedScorer, WordRetriever
from langchain_openai import ChatOpenAI
from rebel_world import FACTS, Table, word_features

from langgraph_evidence import FurepaSettings, create_furepa, create_rebel
from langgraph_evidence.llm.loopback import as_reasoning_model, serve
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.rebel import prompts


def client(server: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="sk-none")


@pytest.mark.parametrize("iterations", [6, 2])
def test_furepa_runs_to_its_end_and_is_refused_the_temperature_once(iterations: int) -> None:
    # By what the evidence says, not by the words of a prompt: a server sees text alone.
    rules = [
        ("in Gwalior, India", "[Analysis] r\n[Answer] Gwalior"),
        ("brother was Roop", "[Search] stadium named after Roop Singh"),
        ("", "[Search] Dhyan Chand brother"),
    ]
    with serve(ScriptedChat(rules=rules), refuse=as_reasoning_model) as server:
        settings = FurepaSettings(iterations=iterations)
        graph = create_furepa(
            client(server), WordRetriever(), settings=settings, query_scorer=FixedScorer({})
        ).compile()
        events: list[Any] = list(graph.stream({"question": QUESTION}, stream_mode=["values", "custom"]))
    out = events[-1][1]
    assert (out["answer"], out["stopped"]) == ("Gwalior", "answered" if iterations == 6 else "forced")
    told = [data["parameter"] for kind, data in events if kind == "custom" and data["type"].startswith("llm.")]
    assert told == ["temperature"]
    refused = [arrival for arrival in server.arrivals if "temperature" in arrival["body"]]
    # What was refused reached no model, and is no call.
    assert out["usage"]["calls"] == len(server.arrivals) - len(refused)
    assert 1 <= len(refused) <= 5


def test_rebel_runs_to_its_end_and_is_refused_the_temperature_once() -> None:
    def opens(prompt: Any) -> Any:
        return lambda text: text.startswith(prompt.messages[0][1])

    rules = [
        (opens(prompts.SPLIT), "none"),
        (opens(prompts.RECALL), "no"),
        (opens(prompts.TOOL_INPUT), '{"query": "Who wrote Emma?"}'),
        (opens(prompts.ANSWER_REPLY), "Jane Austen"),
    ]
    with serve(ScriptedChat(rules=rules), refuse=as_reasoning_model) as server:
        graph = create_rebel(client(server), [Table(FACTS).tool()], features=word_features).compile()
        out = graph.invoke({"question": "Who wrote Emma?"})
    assert (out["answer"], out["stopped"]) == ("Jane Austen", "answered")
    assert (out["usage"]["calls"], len(server.arrivals)) == (4, 5)
    assert ["temperature" in arrival["body"] for arrival in server.arrivals] == [True] + [False] * 4
