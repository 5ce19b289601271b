"""Tiny networks of three families with random weights, over an alphabet of letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

from langgraph_evidence.models.causal import CausalModel

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHAPE: dict[str, Any] = {
    "vocab_size": 32,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "eos_token_id": 31,
    "bos_token_id": None,
}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder a family: grouped heads, and a window that slides."""
    made = {}
    torch.manual_seed(0)
    networks: dict[str, Any] = {
        "llama": LlamaForCausalLM(LlamaConfig(**SHAPE)),
        "mistral": MistralForCausalLM(MistralConfig(**SHAPE, sliding_window=6)),
    }
    for name, network in networks.items():
        made[name] = tmp_path_factory.mktemp(name)
        # Weights as transformers draws them are so small that all tokens are about as likely.
        for weight in network.parameters():
            weight.data *= 4 if weight.dim() > 1 else 1
        network.save_pretrained(made[name])
        words = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate(LETTERS)}, unk_token="z"))
        words.pre_tokenizer = pre_tokenizers.Split("", "isolated")
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
        tokenizer.add_special_tokens({"additional_special_tokens": ["<ask>", "<tell>"]})
        tokenizer.save_pretrained(made[name])
    return made


@pytest.fixture
def load(folders: dict[str, Path]) -> Callable[..., CausalModel]:
    """A network of its own for each test, so that no beginning is known yet."""
    return lambda name="llama", **how: CausalModel.load(folders[name], device="cpu", precision="fp32", **how)
