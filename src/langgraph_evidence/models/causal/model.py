"""A causal language model on this machine: token by token, with a seed and log-probabilities for every reply."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
import transformers

from langgraph_evidence.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class Token(NamedTuple):
    """One generated token; log-probabilities are natural, at temperature one."""

    id: int
    logprob: float
    top: list[tuple[int, float]]


class CausalModel:
    """A transformers causal model and its tokenizer, ready to generate.

    Args:
        model: The network, in evaluation mode.
        tokenizer: Its tokenizer.
        name: What errors call it.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._name = name
        # Held for one step, not for one reply: replies that are read slowly, or left unread, keep nobody waiting.
        self._lock = threading.Lock()
        self._ends = _end_tokens(model, tokenizer)
        self.context: int | None = getattr(model.config, "max_position_embeddings", None)

    @classmethod
    def load(cls, source: str | Path, *, device: str = "auto", precision: str = "auto") -> Self:
        """Reads weights from safetensors only; code that comes with a model is never run.

        Args:
            source: A directory, or the id of a model on the hub.
            device: As torch names it, e.g. cpu or cuda; auto takes a GPU where there is one.
            precision: The name of a torch type, e.g. bfloat16; auto takes the one the weights are stored in.

        Raises:
            ResourceError: No such model, no safetensors, or a damaged file.
        """
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            dtype = "auto" if precision == "auto" else getattr(torch, precision)
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                source, dtype=dtype, use_safetensors=True, trust_remote_code=False
            )
        except Exception as error:
            raise ResourceError(
                f"The language model at {str(source)!r} cannot be read: {error} "
                "Give a directory or hub id with config.json, a tokenizer and *.safetensors."
            ) from error
        return cls(model.to(device).eval(), tokenizer, name=str(source))

    def encode(self, turns: Sequence[dict[str, str]]) -> list[int]:
        """Writes a conversation in the model's chat template; a model without one gets the plain texts."""
        if self._tokenizer.chat_template:
            text = self._tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
            return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self._tokenizer("\n\n".join(turn["content"] for turn in turns))["input_ids"])

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def generate(
        self, prompt: Sequence[int], *, seeds: Sequence[int], temperature: float, top_p: float, limit: int, top: int
    ) -> Iterator[list[Token | None]]:
        """Generates one reply for each seed, all of them a token further with each step.

        A reply depends on its own seed alone, so that n replies together equal n replies one by one.

        Args:
            prompt: Token ids.
            seeds: One for each reply.
            temperature: Of sampling; 0 takes the likeliest token.
            top_p: The share of probability that is sampled from.
            limit: The most tokens of a reply.
            top: How many likely tokens are listed beside each one.

        Yields:
            One token for each reply; None for those that have ended.

        Raises:
            ModelError: The prompt leaves no room in the model's context.
        """
        room = limit if self.context is None else min(limit, self.context - len(prompt))
        if room < 1:
            raise ModelError(
                f"{self._name} takes {self.context} tokens and the prompt has {len(prompt)}: shorten the evidence."
            )
        device = self._model.device
        chances = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        inputs = torch.tensor([list(prompt)] * len(seeds), device=device)
        ended, past = [False] * len(seeds), None
        for _ in range(room):
            with self._lock, torch.inference_mode():
                output = self._model(input_ids=inputs, past_key_values=past, use_cache=True, logits_to_keep=1)
                scores = torch.log_softmax(output.logits[:, -1].float(), dim=-1)
                chosen = _choose(scores, chances, temperature=temperature, top_p=top_p)
                tokens = _read(scores, chosen, top)
            past, inputs = output.past_key_values, chosen[:, None]
            ended = [done or token.id in self._ends for done, token in zip(ended, tokens, strict=True)]
            yield [None if done else token for done, token in zip(ended, tokens, strict=True)]
            if all(ended):
                return


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    configured = getattr(model.generation_config, "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    return frozenset(token for token in [*several, tokenizer.eos_token_id] if token is not None)


def _choose(scores: torch.Tensor, chances: Sequence[Any], *, temperature: float, top_p: float) -> torch.Tensor:
    """One token id a row: the likeliest, or one of the fewest tokens that hold `top_p` of the chance."""
    if temperature <= 0:
        return scores.argmax(dim=-1)
    shares = torch.softmax(scores / temperature, dim=-1)
    if top_p < 1:
        ordered, order = shares.sort(dim=-1, descending=True)
        ordered[ordered.cumsum(dim=-1) - ordered >= top_p] = 0
        shares = torch.zeros_like(shares).scatter(-1, order, ordered)
    rows = [torch.multinomial(row, 1, generator=chance) for row, chance in zip(shares, chances, strict=True)]
    return torch.cat(rows)


def _read(scores: torch.Tensor, chosen: torch.Tensor, top: int) -> list[Token]:
    own = scores.gather(-1, chosen[:, None])[:, 0].tolist()
    best = scores.topk(min(top, scores.shape[-1]), dim=-1) if top else None
    tokens = []
    for row, (token, logprob) in enumerate(zip(chosen.tolist(), own, strict=True)):
        pairs = [] if best is None else list(zip(best.indices[row].tolist(), best.values[row].tolist(), strict=True))
        tokens.append(Token(token, logprob, pairs))
    return tokens
