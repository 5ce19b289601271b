"""What is fine-tuned: a causal model with its tokenizer, its control tokens, and the adapter around it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.errors import MissingExtra, ResourceError
from langgraph_evidence.methods.rq_rag.protocol import PAPER, SMOLLM2
from langgraph_evidence.models.base import read_pretrained

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph_evidence.methods.rq_rag.protocol import ControlTokens
    from langgraph_evidence.training.rq_rag.options import FineTuneOptions

_LINEAR = "all-linear"


class Base(NamedTuple):
    """A model to fine-tune: the network, its tokenizer, its control tokens, and the ids of those it had to learn."""

    model: Any
    tokenizer: Any
    tokens: ControlTokens
    new_tokens: list[int]


def open_base(source: str | Path, *, device: str = "auto") -> Base:
    """Reads a causal model in float32 and finds its control tokens, or adds the paper's to its tokenizer.

    Args:
        source: A folder or a hub id.
        device: Where it is trained.

    Raises:
        ResourceError: There is no such model, or it has no fast tokenizer or no end of a turn.
        MissingExtra: transformers is not installed.
        InvalidInput: No such device.
    """
    model, tokenizer = read_pretrained(
        source, "AutoModelForCausalLM", what="a causal language model", device=device, precision="fp32"
    )
    if not tokenizer.is_fast or not tokenizer.eos_token:
        raise ResourceError(f"{str(source)!r} has no fast tokenizer or no end-of-turn token; give another base.")
    if _has(tokenizer, SMOLLM2):
        return Base(model, tokenizer, SMOLLM2, [])
    new = [token for token in PAPER.all if not _is_one(tokenizer, token)]
    tokenizer.add_special_tokens({"additional_special_tokens": new}, replace_extra_special_tokens=False)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return Base(model, tokenizer, PAPER, [tokenizer.convert_tokens_to_ids(token) for token in new])


def _has(tokenizer: Any, tokens: ControlTokens) -> bool:
    return all(_is_one(tokenizer, token) for token in tokens.all)


def _is_one(tokenizer: Any, token: str) -> bool:
    ids = tokenizer(token, add_special_tokens=False)["input_ids"]
    return len(ids) == 1 and token in tokenizer.get_vocab()


def with_adapter(base: Base, options: FineTuneOptions) -> Any:
    """The network as it is trained: all of it, or a LoRA adapter around it and the embeddings of new tokens.

    Raises:
        MissingExtra: peft is not installed.
    """
    if options.full:
        return base.model.train()
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise MissingExtra("An adapter needs peft: pip install 'langgraph-evidence[train]'.") from error
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=_LINEAR,
        trainable_token_indices=base.new_tokens or None,
    )
    with warnings.catch_warnings():
        # peft asks transformers by a name that it has given up.
        warnings.filterwarnings("ignore", message=".is_gradient_checkpointing. is deprecated", category=FutureWarning)
        return get_peft_model(base.model, config)
