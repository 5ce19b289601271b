"""A scoring server on loopback, and a small language model in a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import torch
from local_service import Answer, serving

from langgraph_evidence.models.remote import client

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Its address, its `state["reply"](payload)` (a value, a status, or an `Answer`), and what it was asked."""
    monkeypatch.setattr(client, "_PAUSE", 0.001)
    seen: list[dict[str, Any]] = []
    state: dict[str, Any] = {"reply": lambda payload: []}

    def answer(arrival: Any) -> Answer:
        payload = json.loads(arrival.body) if arrival.body else {}
        seen.append(payload)
        reply = state["reply"](payload)
        if isinstance(reply, Answer):
            return reply
        return Answer(b"busy", reply) if isinstance(reply, int) else Answer(json.dumps(reply).encode())

    with serving(answer) as service:
        yield service.url, state, seen


@pytest.fixture(scope="session")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("lm")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=128, n_embd=16, n_layer=1, n_head=2)).save_pretrained(folder)
    return folder
