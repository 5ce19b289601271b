"""The scripted model is a real chat model, and a script that does not fit fails loudly."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.scripts import Fault, ScriptedFailure
from langgraph_evidence.llm.testing import ScriptedChat


class TestUnitSuite(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> Any:
        return ScriptedChat

    @property
    def chat_model_params(self) -> Any:
        return {"rules": [("", "a reply of some words")]}

    @property
    def has_tool_calling(self) -> Any:
        return False

    @property
    def has_structured_output(self) -> Any:
        return False


class TestIntegrationSuite(ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> Any:
        return ScriptedChat

    @property
    def chat_model_params(self) -> Any:
        return {"rules": [("", "a reply of some words")]}

    @property
    def has_tool_calling(self) -> Any:
        return False

    @property
    def has_structured_output(self) -> Any:
        return False


def test_the_prompt_decides_and_not_the_order() -> None:
    chat = ScriptedChat(
        rules=[
            (r"rules\..*Question: one", "first"),
            (re.compile("^two$"), "second"),
            (lambda text: "three" in text, lambda text, index: f"{len(text)} {index}"),
        ]
    )
    assert chat.invoke("three").text == "5 0"
    assert chat.invoke("two").text == "second"
    assert chat.invoke([SystemMessage("The rules."), HumanMessage("Question: one")]).text == "first"
    assert chat.calls[2]["text"] == "The rules.\n\nQuestion: one"
    assert chat.calls[2]["ended"] >= chat.calls[2]["started"]


def test_a_prompt_without_a_rule_is_shown() -> None:
    with pytest.raises(InvalidInput, match=r"prompt:\nwhat is this\?\n\nThe rules look for:\n- one") as caught:
        ScriptedChat(rules=[("one", "x")]).invoke("what is this?")
    assert "what is this?" in str(caught.value)


def test_replies_are_numbered_by_seed_and_by_sample() -> None:
    chat = ScriptedChat(rules=[("", ["a", "b"])])
    assert [chat.invoke("x", seed=seed).text for seed in (0, 1, 2)] == ["a", "b", "a"]
    result: Any = chat.generate([[HumanMessage("x")]], n=3)
    assert [generation.text for generation in result.generations[0]] == ["a", "b", "a"]
    # One word read; three words written: one bill for one request, on its first reply.
    usage = [getattr(generation.message, "usage_metadata", None) for generation in result.generations[0]]
    assert usage == [{"input_tokens": 1, "output_tokens": 3, "total_tokens": 4}, None, None]


def test_faults_meet_as_many_calls_as_they_say() -> None:
    chat = ScriptedChat(
        rules=[("", "fine")],
        faults=[
            {"match": "x", "status": 429, "retry_after": 2, "times": 2},
            Fault(garbage="%%"),
            Fault(error=OSError("gone")),
        ],
    )
    for _ in range(2):
        with pytest.raises(ScriptedFailure) as caught:
            chat.invoke("x")
        assert caught.value.response.headers["retry-after"] == "2"
    assert chat.invoke("x").text == "%%"
    with pytest.raises(OSError, match="gone"):
        chat.invoke("x")
    assert chat.invoke("x").text == "fine"
    assert len(chat.calls) == 5


def test_a_reply_may_call_tools() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "1"}
    chat = ScriptedChat(rules=[("", AIMessage("", tool_calls=[call]))])
    reply = chat.bind_tools([add]).invoke("x")
    assert reply.tool_calls[0]["name"] == "add"
    assert chat.calls[0]["kwargs"]["tools"] == [add]


async def test_calls_in_flight_are_counted() -> None:
    chat = ScriptedChat(rules=[("", "x")], latency=0.05)
    await asyncio.gather(*(chat.ainvoke("x") for _ in range(6)))
    assert chat.most_in_flight == 6


async def test_streams_word_by_word() -> None:
    chat = ScriptedChat(rules=[("", "one two  three\n")])
    chunks = [chunk async for chunk in chat.astream("x")]
    assert "".join(chunk.text for chunk in chunks) == "one two  three\n"
    assert len([chunk for chunk in chunks if chunk.text]) == 3
    assert chunks[-1].usage_metadata or chunks[-2].usage_metadata
    assert [chunk.text for chunk in chat.stream("x", stop=["two"]) if chunk.text] == ["one "]
