"""The real language model in the box (`make setup` gets it): its files, its words, LangChain's own suites."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
import torch
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_evidence.llm.local import LocalChat
from langgraph_evidence.llm.provider import open_model
from langgraph_evidence.models.causal import CausalModel

CONTROL = (
    "<|endoftext|> <|im_start|> <|im_end|> <repo_name> <reponame> <file_sep> <filename> <gh_stars> <issue_start>"
    " <issue_comment> <issue_closed> <jupyter_start> <jupyter_text> <jupyter_code> <jupyter_output> <jupyter_script>"
    " <empty_output>"
).split()
NETWORK: dict[str, Any] = {"device": "cpu", "precision": "fp32"}
HOW: dict[str, Any] = {**NETWORK, "max_tokens": 6}


@pytest.fixture(scope="module", autouse=True)
def chat() -> Any:
    # Held by the module, so that all chat models of its tests share one network.
    return LocalChat("smollm2", **HOW)


@pytest.fixture(scope="module")
def causal(chat: Any) -> CausalModel:
    return chat._loaded.get(chat)  # type: ignore[no-any-return]  # a private attribute of a fixture


class _Suite:
    @property
    def chat_model_class(self) -> Any:
        return LocalChat

    @property
    def chat_model_params(self) -> Any:
        return {"model": "smollm2", **NETWORK}

    @property
    def has_tool_calling(self) -> Any:
        return False

    @property
    def has_structured_output(self) -> Any:
        return False


class _Brief(LocalChat):
    """With few tokens to a reply, for suites that ask for no number of them."""

    max_tokens: int = 6


class TestUnitSuite(_Suite, ChatModelUnitTests):
    pass


class TestIntegrationSuite(_Suite, ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> Any:
        return _Brief


def test_it_answers_a_question(chat: Any) -> None:
    assert "Paris" in chat.invoke("What is the capital of France?", max_tokens=10).text
    assert isinstance(open_model("smollm2"), LocalChat)


def test_it_writes_on(chat: Any) -> None:
    messages = [HumanMessage("What is the capital of France?"), AIMessage("The capital of France is")]
    assert chat.invoke(messages, continue_final_message=True, max_tokens=2).text.startswith(" Paris")


def test_the_conversion_kept_the_template_and_the_control_tokens(causal: CausalModel) -> None:
    tokenizer = causal._tokenizer
    assert len(tokenizer) == 49_152 == causal._model.config.vocab_size
    assert [causal.control_token(text) for text in CONTROL] == list(range(17))
    assert [causal.token(text) for text in (*CONTROL, "\n")] == [*range(17), 198]
    assert causal.engine._ends == {2}
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    text = causal.decode(causal.encode([{"role": "user", "content": "Hi"}]), control=True)
    assert text == (f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    # Each digit by itself, and white space before one as before a word: two line feeds are one token.
    assert tokenizer.convert_ids_to_tokens(tokenizer("a\n\n12 b")["input_ids"]) == ["a", "ĊĊ", "1", "2", "Ġb"]


def test_the_embeddings_are_tied(causal: CausalModel) -> None:
    network = causal._model
    assert network.lm_head.weight.data_ptr() == network.model.embed_tokens.weight.data_ptr()
    assert sum(weight.numel() for weight in network.parameters()) == 134_515_008


def test_log_probabilities_are_those_of_a_plain_forward_pass(causal: CausalModel) -> None:
    turns = [{"role": "user", "content": "Where was Dhyan Chand born?"}]
    prompt, text = causal.encode(turns), "Dhyan Chand was born in Allahabad."
    ids = torch.tensor([[*prompt, *causal._tokenizer(text, add_special_tokens=False)["input_ids"]]])
    with torch.inference_mode():
        plain = torch.log_softmax(causal._model(ids).logits[0, :-1], -1).gather(1, ids[0, 1:, None])[:, 0]
    expected = plain[len(prompt) - 1 :].tolist()
    for _ in ("read whole", "known by now"):
        found = causal.log_probabilities(text, prompt=prompt)
        assert [value for _, value in found] == pytest.approx(expected, abs=1e-4)
    pieces = [text[begin:end] for (begin, _), (end, _) in pairwise([*found, (len(text), 0.0)])]
    assert "".join(pieces) == text
    assert pieces[:3] == ["D", "hy", "an"]


async def test_replies_together_are_those_alone(chat: Any) -> None:
    questions = [
        "What is the capital of France?",
        "Name a colour.",
        "Count: 1, 2, 3,",
        "Is water wet? Answer with yes or no, and say why in one long sentence.",
    ]
    turns = [[SystemMessage("Be brief."), HumanMessage(question)] for question in questions]
    first = await chat.ainvoke(turns[0], logprobs=True)
    together = await asyncio.gather(*(chat.ainvoke(turn, logprobs=True) for turn in turns))
    one, other = (message.response_metadata["logprobs"]["content"] for message in (first, together[0]))
    assert [row["token"] for row in one] == [row["token"] for row in other]
    assert [row["logprob"] for row in one] == pytest.approx([row["logprob"] for row in other], abs=1e-4)
    assert len({message.text for message in together}) == len(turns)
