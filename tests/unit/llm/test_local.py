"""The local chat model over a tiny random network: seeds, samples, stops, log-probabilities, streams."""

from __future__ import annotations

import asyncio
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.local import LocalChat
from langgraph_evidence.llm.prompt import Prompt

WORDS = [f"w{number}" for number in range(60)]
TEMPLATE = "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}assistant"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    # More threads than one only wait for each other in so small a network.
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    vocabulary = {word: number for number, word in enumerate(["<unk>", "<s>", "</s>", "user", "assistant", *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        bos_token_id=1,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def chat(directory: Any) -> Any:
    return LocalChat(str(directory), device="cpu", precision="fp32", max_tokens=12)


class _Suite:
    @pytest.fixture(autouse=True)
    def _in_directory(self, directory: Any) -> None:
        type(self).folder = str(directory)

    folder = "tiny"

    @property
    def chat_model_class(self) -> Any:
        return LocalChat

    @property
    def chat_model_params(self) -> Any:
        return {"model": self.folder, "device": "cpu"}

    @property
    def has_tool_calling(self) -> Any:
        return False

    @property
    def has_structured_output(self) -> Any:
        return False


class TestUnitSuite(_Suite, ChatModelUnitTests):
    pass


class TestIntegrationSuite(_Suite, ChatModelIntegrationTests):
    pass


def replies(chat: Any, **kwargs: Any) -> Any:
    result = chat.generate([[HumanMessage("w1 w2")]], **kwargs)
    return [generation.text for generation in result.generations[0]]


def test_a_seed_decides_alone_or_in_company(chat: Any) -> None:
    together = replies(chat, n=4, temperature=1.0, seed=5)
    alone = [replies(chat, temperature=1.0, seed=seed)[0] for seed in (5, 6, 7, 8)]
    assert together == alone
    assert len(set(together)) == 4
    assert replies(chat, n=4, temperature=1.0, seed=5) == together


def test_without_temperature_all_samples_are_the_likeliest(chat: Any) -> None:
    assert len(set(replies(chat, n=3, temperature=0.0))) == 1
    assert replies(chat, n=2, temperature=1.0, top_p=1e-6) == replies(chat, n=2)


def test_logprobs_are_those_of_the_network(chat: Any) -> None:
    message = chat.invoke("w1 w2", logprobs=True, top_logprobs=64, temperature=1.0, seed=3, max_tokens=4)
    rows = message.response_metadata["logprobs"]["content"]
    assert len(rows) == message.usage_metadata["output_tokens"] == 4
    for row in rows:
        assert len(row["top_logprobs"]) == 64
        assert {"token": row["token"], "logprob": row["logprob"]} in row["top_logprobs"]
        # The vocabulary has 65 words: the 64 likeliest hold nearly all of the probability.
        assert 0.98 < sum(math.exp(other["logprob"]) for other in row["top_logprobs"]) <= 1.0001
    assert " ".join(row["token"] for row in rows).split() == message.text.split()


def test_the_cache_of_keys_changes_nothing(chat: Any) -> None:
    from langgraph_evidence.models.causal import CausalModel, Sampling

    causal = CausalModel.load(chat.model, device="cpu", precision="fp32", cache_bytes=0)
    prompt = causal.encode([{"role": "user", "content": "w1 w2"}])

    def likeliest(tokens: Any, limit: Any) -> Any:
        steps = causal.generate(tokens, limit=limit, sampling=Sampling(seeds=[0]))
        return [step[0] for step in steps]

    whole = likeliest(prompt, 5)
    for count, token in enumerate(whole):
        (again,) = likeliest([*prompt, *(one.id for one in whole[:count])], 1)
        assert again.id == token.id
        assert again.logprob == pytest.approx(token.logprob, abs=1e-4)


def test_a_stop_text_ends_a_reply_and_is_left_out(chat: Any) -> None:
    whole = chat.invoke("w1 w2", temperature=1.0, seed=1).text
    mark = whole.split()[4]
    cut = chat.invoke("w1 w2", temperature=1.0, seed=1, stop=[mark])
    assert cut.text == whole[: whole.index(mark)]
    assert cut.response_metadata["finish_reason"] == "stop"
    streamed = [chunk.text for chunk in chat.stream("w1 w2", temperature=1.0, seed=1, stop=[mark])]
    assert "".join(streamed) == cut.text


def test_a_stream_says_what_invoke_says(chat: Any) -> None:
    whole = chat.invoke("w1 w2", temperature=1.0, seed=2)
    chunks = list(chat.stream("w1 w2", temperature=1.0, seed=2))
    assert "".join(chunk.text for chunk in chunks) == whole.text
    assert len([chunk for chunk in chunks if chunk.text]) > 5
    (usage,) = (chunk.usage_metadata for chunk in chunks if chunk.usage_metadata)
    assert usage == whole.usage_metadata


def test_streams_hold_back_what_may_become_a_stop(chat: Any) -> None:
    whole = chat.invoke("w1 w2", temperature=1.0, seed=2).text
    first, second, third = whole.split()[:3]
    mark = f"{first} {second} {third}"
    assert "".join(chunk.text for chunk in chat.stream("w1 w2", temperature=1.0, seed=2, stop=[mark])) == ""
    never = f"{first} {second} nothing"
    assert "".join(chunk.text for chunk in chat.stream("w1 w2", temperature=1.0, seed=2, stop=[never])) == whole


def test_a_stream_left_unread_keeps_nobody_waiting(chat: Any) -> None:
    stream = chat.stream("w1 w2")
    next(stream)
    done = []
    thread = threading.Thread(target=lambda: done.append(chat.invoke("w1").text), daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert done


async def test_calls_at_the_same_time_do_not_mix(chat: Any) -> None:
    alone = [replies(chat, temperature=1.0, seed=seed)[0] for seed in range(4)]
    together = await asyncio.gather(*(chat.ainvoke("w1 w2", temperature=1.0, seed=seed) for seed in range(4)))
    assert [message.text for message in together] == alone


@pytest.mark.parametrize("native", [False, True])
def test_samples_through_the_seam(chat: Any, native: Any) -> None:
    prompt = Prompt("demo", (("human", "$words"),), ("words",))
    model = LanguageModel(f"local:{chat.model}") if native else LanguageModel(chat)
    samples = run_sync(
        model.sample(prompt, {"words": "w1 w2"}, n=3, temperature=1.0, logprobs=True, native=native, max_tokens=12)
    )
    assert [sample.text for sample in samples] == [replies(chat, temperature=1.0, seed=seed)[0] for seed in range(3)]
    tokens = [sample.usage["output_tokens"] for sample in samples]
    assert sum(tokens) == sum(len(sample.logprobs or []) for sample in samples)
    assert sum(sample.usage["calls"] for sample in samples) == (1 if native else 3)


def test_a_prompt_that_fills_the_context_is_refused(chat: Any) -> None:
    with pytest.raises(ModelError, match="takes 64 tokens and the prompt has 20"):
        chat.invoke("w1 " * 200)
    assert chat.invoke("w1 " * 50, max_tokens=50).usage_metadata["total_tokens"] <= 64


def test_roles_reach_the_template(chat: Any) -> None:
    from langgraph_evidence.models.causal.model import CausalModel

    causal = CausalModel.load(chat.model, device="cpu")
    turns = [{"role": "system", "content": "w3"}, {"role": "user", "content": "w4"}]
    # system is no word of the vocabulary; then w3, user, w4, assistant.
    assert causal.encode(turns) == [0, 8, 3, 9, 4]
    message = chat.invoke([SystemMessage("w3"), HumanMessage("w4")])
    assert message.usage_metadata["input_tokens"] == 5


def test_a_reply_is_written_on_from_its_beginning(chat: Any) -> None:
    whole = chat.invoke("w1 w2").text.split()
    # Of a template that does not end in white space.
    begun = " " + " ".join(whole[:3])
    rest = chat.invoke([HumanMessage("w1 w2"), AIMessage(begun)], continue_final_message=True, max_tokens=9)
    assert rest.text.split() == whole[3:]
    assert rest.usage_metadata["input_tokens"] == chat.invoke("w1 w2").usage_metadata["input_tokens"] + 3
    streamed = chat.stream([HumanMessage("w1 w2"), AIMessage(begun)], continue_final_message=True, max_tokens=9)
    assert "".join(chunk.text for chunk in streamed).split() == whole[3:]
    for messages in ([HumanMessage("w1 w2")], []):
        with pytest.raises(InvalidInput, match="AIMessage last"):
            chat._generate(messages, continue_final_message=True)


def test_the_first_token_is_one_of_those_allowed(chat: Any) -> None:
    for word in ("<s>", "w7"):
        message = chat.invoke("w1 w2", allowed_tokens=[word], skip_special_tokens=False, logprobs=True, max_tokens=3)
        row = message.response_metadata["logprobs"]["content"][0]
        assert row["token"] == word
        # As likely as it was before others were forbidden.
        assert row["logprob"] < -1
        assert message.text.split()[0] == word
    free = chat.invoke("w1 w2", max_tokens=3).text.split()
    assert chat.invoke("w1 w2", allowed_tokens=[free[0]], max_tokens=3).text.split() == free
    for wrong in (["w1 w2"], [], [""]):
        with pytest.raises(InvalidInput, match=r"one token|that is one|at least one"):
            chat.invoke("w1 w2", allowed_tokens=wrong)


def test_control_tokens_stop_a_reply_and_are_left_out_of_it(chat: Any) -> None:
    how: dict[str, Any] = {"allowed_tokens": ["<s>"], "max_tokens": 4}
    hidden, shown = chat.invoke("w1", **how), chat.invoke("w1", **how, skip_special_tokens=False)
    assert "<s>" not in hidden.text
    assert shown.text.startswith("<s>")
    stopped = chat.invoke("w1", **how, stop=["<s>", "<unk>"])
    assert (stopped.text, stopped.response_metadata["finish_reason"]) == ("", "stop")
    assert chat.invoke("w1", **how, stop=["<unk>"]).text == hidden.text
    # In the prompt they are single tokens, which a word of the same letters is not.
    texts = [[HumanMessage("w1"), AIMessage(begun)] for begun in ("<s>", "< s >")]
    counts = [
        chat.invoke(text, continue_final_message=True, max_tokens=1).usage_metadata["input_tokens"] for text in texts
    ]
    assert counts[1] > counts[0]


def test_adapters_are_chosen_by_name(directory: Any, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    with pytest.warns(FutureWarning, match="is_gradient_checkpointing"):
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(directory), LoraConfig(target_modules="all-linear"))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=5)
    model.save_pretrained(tmp_path)
    how: dict[str, Any] = {"device": "cpu", "precision": "fp32", "max_tokens": 12}
    chat = LocalChat(str(directory), adapters={"mine": tmp_path}, **how)
    base = LocalChat(str(directory), **how).invoke("w1 w2").text
    assert chat.invoke("w1 w2").text == base
    changed = chat.invoke("w1 w2", adapter="mine").text
    assert changed != base
    assert LocalChat(str(directory), adapters={"x": tmp_path}, adapter="x", **how).invoke("w1 w2").text == changed
    with pytest.raises(InvalidInput, match="There is no adapter 'other'; given were: mine"):
        chat.invoke("w1 w2", adapter="other")


def test_chats_of_one_name_share_a_network(directory: Any) -> None:
    one, other = (LocalChat(str(directory), device="cpu", seed=seed) for seed in (1, 2))
    assert one._loaded.get(one) is other._loaded.get(other)


async def test_a_call_that_is_cancelled_frees_its_place(chat: Any) -> None:
    running = chat._loaded.get(chat).engine._running
    task = asyncio.create_task(chat.ainvoke("w1 w2", max_tokens=50))
    while not running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):
        while running:
            await asyncio.sleep(0.01)


async def test_more_calls_at_once_than_a_pool_has_threads(chat: Any) -> None:
    import torch

    rows: list[int] = []
    network = chat._loaded.get(chat)._model
    hook = network.register_forward_pre_hook(
        lambda _module, _args, kwargs: rows.append(kwargs["input_ids"].shape[0]), with_kwargs=True
    )
    assert torch.get_num_threads() == 1
    messages = await asyncio.gather(*(chat.ainvoke(f"w{number} w3") for number in range(24)))
    hook.remove()
    assert max(rows) > 12
    alone = [chat.invoke(f"w{number} w3").text for number in range(24)]
    assert [message.text for message in messages] == alone


async def test_an_asynchronous_stream_says_the_same(chat: Any) -> None:
    chunks = [chunk async for chunk in chat.astream("w1 w2", temperature=1.0, seed=2)]
    assert "".join(chunk.text for chunk in chunks) == chat.invoke("w1 w2", temperature=1.0, seed=2).text
    assert len([chunk for chunk in chunks if chunk.text]) > 5


def test_weights_that_are_no_safetensors_are_refused(directory: Any, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    with pytest.raises(ResourceError, match="safetensors"):
        LocalChat(model=str(tmp_path)).invoke("w1")
    (tmp_path / "model.safetensors").write_bytes((directory / "model.safetensors").read_bytes()[:-100])
    with pytest.raises(ResourceError, match="cannot be read"):
        LocalChat(model=str(tmp_path)).invoke("w1")
    with pytest.raises(ResourceError, match="cannot be read"):
        LocalChat(model=str(tmp_path / "nowhere")).invoke("w1")
