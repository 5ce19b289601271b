"""The offline model as a chat model: LangChain's own suites, determinism, streaming, usage."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_evidence.llm.offline import OfflineChat

SYSTEM = "Lines start only with '[Analysis]' or '[Answer]' or '[Search]'."
QUESTION = "Who is the mother of the director of film Tall Tales (1990 Film)?"
EVIDENCE = "Tall Tales (1990 film): Tall Tales is a 1990 comedy film directed by Ann Example. It stars Bob Person."


def next_prompt(evidence: str = EVIDENCE, question: str = QUESTION, tail: str = "") -> list[BaseMessage]:
    return [SystemMessage(SYSTEM), HumanMessage(f"Context:\n{evidence}\nQuestion:\n{question}{tail}")]


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


def test_a_prompt_of_no_protocol_gets_a_text_that_says_what_the_model_is() -> None:
    reply = OfflineChat().invoke("What is the capital of France?")
    assert "offline model" in reply.text
    assert "Paris" not in reply.text


def test_the_same_seed_gives_the_same_reply_and_other_seeds_other_ones() -> None:
    model = OfflineChat(temperature=1.5)
    texts = [model.invoke(next_prompt(), seed=seed).text for seed in range(20)]
    assert texts == [model.invoke(next_prompt(), seed=seed).text for seed in range(20)]
    assert len(set(texts)) > 1
    assert texts == [OfflineChat(temperature=1.5, seed=seed).invoke(next_prompt()).text for seed in range(20)]


def test_temperature_zero_ignores_the_seed() -> None:
    assert len({OfflineChat(seed=seed).invoke(next_prompt()).text for seed in range(10)}) == 1


def test_n_samples_differ_at_a_temperature_and_are_counted_once() -> None:
    model = OfflineChat(temperature=1.5)
    result = model.generate([next_prompt()], n=12)
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
    model = OfflineChat(seed=3, temperature=0.7)
    whole = model.invoke(next_prompt()).text
    assert (await model.ainvoke(next_prompt())).text == whole
    assert "".join(chunk.text for chunk in model.stream(next_prompt())) == whole
    assert "".join([chunk.text async for chunk in model.astream(next_prompt())]) == whole


def test_a_stop_word_ends_the_reply() -> None:
    assert OfflineChat().invoke(next_prompt(), stop=["[Search]", "[Answer]"]).text.strip().startswith("[Analysis]")
    assert "[Search]" not in OfflineChat().invoke(next_prompt(), stop=["[Search]"]).text


@pytest.mark.parametrize("temperature", [-1.0])
def test_a_negative_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        OfflineChat(temperature=temperature)
