"""The offline model as a chat model: LangChain's own suites, determinism, streaming, usage."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_evidence.llm.offline import OfflineChat
from langgraph_evidence.llm.prompt import PromptCall

ASKED: list[BaseMessage] = [SystemMessage("Reply."), HumanMessage("What next?")]
CALL = PromptCall("toy.next", {"words": ["one", "two", "three"]})


def respond(values: Mapping[str, Any], temperature: float, rng: random.Random) -> str:
    """The first word, or at a temperature any of them."""
    words = values["words"]
    return f"[Note] a word.\n[Word] {rng.choice(words) if temperature else words[0]}"


def toy(**fields: Any) -> OfflineChat:
    return OfflineChat(responders={"toy.next": respond}, **fields)


class _Standard:
    @property
    def chat_model_class(self) -> type[OfflineChat]:
        return OfflineChat

    @property
    def chat_model_params(self) -> dict[str, object]:
        return {"temperature": 0.0, "seed": 7}


class TestUnitSuite(_Standard, ChatModelUnitTests):
    pass


class TestIntegrationSuite(_Standard, ChatModelIntegrationTests):
    @property
    def returns_usage_metadata(self) -> bool:
        return True


@pytest.mark.parametrize("prompt", [None, PromptCall("toy.other", {})])
def test_a_prompt_that_nobody_knows_gets_a_text_that_says_what_the_model_is(prompt: Any) -> None:
    reply = toy().invoke("What is the capital of France?", prompt=prompt)
    assert "offline model" in reply.text
    assert "Paris" not in reply.text
    assert OfflineChat().invoke("Hello?", prompt=CALL).text == reply.text


def test_the_same_seed_gives_the_same_reply_and_other_seeds_other_ones() -> None:
    model = toy(temperature=1.5)
    texts = [model.invoke(ASKED, prompt=CALL, seed=seed).text for seed in range(20)]
    assert texts == [model.invoke(ASKED, prompt=CALL, seed=seed).text for seed in range(20)]
    assert len(set(texts)) > 1
    assert texts == [toy(temperature=1.5, seed=seed).invoke(ASKED, prompt=CALL).text for seed in range(20)]


def test_temperature_zero_ignores_the_seed() -> None:
    assert len({toy(seed=seed).invoke(ASKED, prompt=CALL).text for seed in range(10)}) == 1


def test_n_samples_differ_at_a_temperature_and_are_counted_once() -> None:
    result = toy(temperature=1.5).generate([ASKED], n=12, prompt=CALL)
    texts = [generation.text for generation in result.generations[0]]
    assert len(texts) == 12
    assert len(set(texts)) > 1
    usages = [generation.message.usage_metadata for generation in result.generations[0]]  # type: ignore[union-attr]  # a chat model gives chat generations
    assert [usage is not None for usage in usages] == [True] + [False] * 11


def test_usage_counts_words_and_marks() -> None:
    reply = OfflineChat().invoke("One, two.")
    assert isinstance(reply, AIMessage)
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["input_tokens"] == 4
    assert reply.usage_metadata["total_tokens"] == 4 + reply.usage_metadata["output_tokens"]
    assert reply.response_metadata["model_name"] == "offline"


async def test_every_way_of_calling_gives_the_same_text() -> None:
    model = toy(seed=3, temperature=0.7)
    whole = model.invoke(ASKED, prompt=CALL).text
    assert (await model.ainvoke(ASKED, prompt=CALL)).text == whole
    assert "".join(chunk.text for chunk in model.stream(ASKED, prompt=CALL)) == whole
    assert "".join([chunk.text async for chunk in model.astream(ASKED, prompt=CALL)]) == whole


def test_a_stop_word_ends_the_reply() -> None:
    assert toy().invoke(ASKED, prompt=CALL, stop=["[Word]", "[Other]"]).text == "[Note] a word.\n"


@pytest.mark.parametrize("temperature", [-1.0])
def test_a_negative_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        OfflineChat(temperature=temperature)
