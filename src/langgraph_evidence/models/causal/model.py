"""A causal language model on this machine: one loader, one way to write, one to tell how likely a text is."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch

from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.models.base import read_pretrained
from langgraph_evidence.models.causal.box import SMOLLM2, convert, smollm2_folder
from langgraph_evidence.models.causal.sampling import Drawing, read_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langgraph_evidence.models.causal.sampling import SampledToken, Sampling


class CausalModel:
    """A transformers causal model and its tokenizer; thread-safe.

    Args:
        model: The network, in evaluation mode.
        tokenizer: Its fast tokenizer.
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
            source: A directory, the id of a model on the hub, `"smollm2"`, or a GGUF file (converted once).
            device: Where to compute; auto takes a GPU where there is one.
            precision: Type of the weights; auto takes the one that they are stored in.

        Raises:
            MissingExtra: transformers is not installed.
            ResourceError: No such model, no safetensors, or a damaged file.
            InvalidInput: No such device or precision.
        """
        model, tokenizer = read_pretrained(
            _folder(source), "AutoModelForCausalLM", what="a causal language model", device=device, precision=precision
        )
        return cls(model, tokenizer, name=str(source))

    def encode(self, turns: Sequence[dict[str, str]], begun: str = "") -> list[int]:
        """Writes a conversation in the model's chat template; a model without one gets the plain texts.

        Args:
            turns: Role and content of each.
            begun: The beginning of the reply, which is written on from; control tokens in it are read as such.
        """
        if self._tokenizer.chat_template:
            text = self._tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
            return list(self._tokenizer(text + begun, add_special_tokens=False)["input_ids"])
        return list(self._tokenizer("\n\n".join([*(turn["content"] for turn in turns), begun]))["input_ids"])

    def decode(self, tokens: Sequence[int], *, control: bool = False) -> str:
        """The text of tokens, with or without the control tokens among them."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=not control))

    def token(self, text: str) -> int:
        """The one token that a text is.

        Raises:
            InvalidInput: It is none, or several.
        """
        ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) != 1:
            raise InvalidInput(f"{text!r} is {len(ids)} tokens of {self._name}; give a text that is one.")
        return int(ids[0])

    def control_token(self, text: str) -> int | None:
        """The control token that a text is, which `decode` leaves out; None for a text that is none."""
        known = self._tokenizer.added_tokens_encoder.get(text)
        special = known is not None and self._tokenizer.added_tokens_decoder[known].special
        return known if special else None

    def generate(self, prompt: Sequence[int], *, limit: int, sampling: Sampling) -> Iterator[list[SampledToken | None]]:
        """Generates one reply for each seed, all of them a token further with each step.

        A reply depends on its own seed alone, so that n replies together equal n replies one by one.

        Args:
            prompt: Token ids.
            limit: The most tokens of a reply.
            sampling: How tokens are chosen, with a seed for each reply.

        Yields:
            One token for each reply; None for those that have ended.

        Raises:
            ModelError: The prompt leaves no room in the model's context.
        """
        inputs, past = torch.tensor([list(prompt)] * len(sampling.seeds), device=self._model.device), None
        drawing = Drawing(sampling, self._ends, self._model.device)
        for _ in range(self._room(prompt, limit)):
            with self._lock, torch.inference_mode():
                output = self._model(input_ids=inputs, past_key_values=past, use_cache=True, logits_to_keep=1)
                scores = torch.log_softmax(output.logits[:, -1].float(), dim=-1)
                chosen = drawing.choose(scores)
                tokens = read_tokens(scores, chosen, sampling.top)
            past, inputs = output.past_key_values, chosen[:, None]
            yield drawing.keep(tokens)
            if drawing.done:
                return

    def _room(self, prompt: Sequence[int], limit: int) -> int:
        room = limit if self.context is None else min(limit, self.context - len(prompt))
        if room < 1:
            raise ModelError(
                f"{self._name} takes {self.context} tokens and the prompt has {len(prompt)}: shorten the evidence."
            )
        return room

    def log_probabilities(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given the text before it, but for the first token.

        Raises:
            ResourceError: The model has no fast tokenizer, so no character offsets.
        """
        if not self._tokenizer.is_fast:
            raise ResourceError(f"{self._name} has no fast tokenizer, so no character offsets; give another model.")
        batch = self._tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = batch.pop("offset_mapping")[0, 1:, 0].tolist()
        ids = batch["input_ids"].to(self._model.device)
        with self._lock, torch.inference_mode():
            logits = self._model(input_ids=ids).logits[0, :-1].float()
        found = torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0].tolist()
        return list(zip(offsets, found, strict=True))


def _folder(source: str | Path) -> str | Path:
    if str(source) == SMOLLM2:
        return smollm2_folder()
    return convert(Path(source)) if str(source).endswith(".gguf") else source


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    configured = getattr(model.generation_config, "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    return frozenset(token for token in [*several, tokenizer.eos_token_id] if token is not None)
