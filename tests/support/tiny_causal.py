"""A causal language model of a few thousand random weights that reads any text byte by byte, in a chat template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from langgraph_evidence.methods.rq_rag.protocol import SMOLLM2

END = "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_causal(folder: Path, *, special: Sequence[str] = tuple(SMOLLM2.all)) -> Path:
    """Writes the model and its tokenizer, whose special tokens are those given and the template's own."""
    names = ["<unk>", "<|im_start|>", END, *special]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: number for number, word in enumerate([*names, *alphabet])}
    core = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="<unk>", eos_token=END, pad_token=END, chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
