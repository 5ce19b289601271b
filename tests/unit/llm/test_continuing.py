"""A call that writes on from the beginning of a reply, and what a reply says of where it ended."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("t.begun", (("human", "Say it."), ("ai", "It is")))


class Adapted(ScriptedChat):
    """It has an adapter."""

    adapter: str | None = "rq_rag"


def test_a_model_in_this_process_is_told_in_the_words_of_the_call() -> None:
    model = ScriptedChat(rules=[("", " so.")])
    provider = LanguageModel(model).provider
    assert provider.continuing() == {"continue_final_message": True, "skip_special_tokens": False}
    assert provider.continuing(first=["<a>"])["allowed_tokens"] == ["<a>"]
    run_sync(LanguageModel(model).sample(PROMPT, {}, n=1, **provider.continuing()))
    assert model.calls[0]["kwargs"]["continue_final_message"] is True
    assert model.calls[0]["messages"][-1] == AIMessage("It is")


def test_a_server_is_told_in_the_body_of_the_request() -> None:
    chat = ChatOpenAI(model="m", api_key="k", base_url="http://localhost:1/v1")
    assert LanguageModel(chat).provider.continuing(first=["<a>"]) == {
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False, "skip_special_tokens": False}
    }


def test_an_adapter_and_a_context_are_known_where_the_model_tells_them() -> None:
    provider = LanguageModel(Adapted(rules=[("", "1")], profile={"max_input_tokens": 99})).provider
    assert (provider.adapter, provider.context) == ("rq_rag", 99)
    other = LanguageModel(ScriptedChat(rules=[("", "1")])).provider
    assert (other.adapter, other.context) == ("", None)


@pytest.mark.parametrize(
    ("about", "truncated"),
    [
        ({"finish_reason": "length"}, True),
        ({"stop_reason": "max_tokens"}, True),
        ({"finish_reason": "stop"}, False),
        ({}, False),
    ],
)
def test_a_reply_says_whether_it_was_cut(about: Any, truncated: bool) -> None:
    model = LanguageModel(ScriptedChat(rules=[("", AIMessage("It is so.", response_metadata=about))]))
    assert run_sync(model.ask(PROMPT, {}, parse=str)).truncated is truncated
    (sample,) = run_sync(model.sample(PROMPT, {}, n=1))
    assert sample.truncated is truncated


def test_an_asked_reply_has_its_log_probabilities_where_they_were_asked_for() -> None:
    model = LanguageModel(ScriptedChat(rules=[("", "so it is")]))
    told = run_sync(model.ask(PROMPT, {}, parse=str, logprobs=True)).logprobs
    assert [row["logprob"] for row in told or []] == [-0.5] * 3
    assert run_sync(model.ask(PROMPT, {}, parse=str)).logprobs is None
