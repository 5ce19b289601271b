"""A causal language model on this machine: one loader, one way to write, one to tell how likely a text is."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

import torch

from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.models.base import measured_precision, pick_device, read_pretrained, use_own_cores
from langgraph_evidence.models.causal.adapters import BASE, Adapters
from langgraph_evidence.models.causal.box import SMOLLM2, convert, smollm2_folder
from langgraph_evidence.models.causal.engine import Engine
from langgraph_evidence.models.causal.requests import Request
from langgraph_evidence.models.causal.slots import Rows

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence

    from langgraph_evidence.models.causal.sampling import SampledToken, Sampling

CACHE_BYTES = 2**29
STORED = "stored"
# One copy of a network for all who ask for it in the same way, as long as one of them holds it.
_shared: weakref.WeakValueDictionary[tuple[str, str, str, int], CausalModel] = weakref.WeakValueDictionary()


class CausalModel:
    """A transformers causal model and its tokenizer; thread-safe, and quickest when asked by many at once.

    Args:
        model: The network, in evaluation mode.
        tokenizer: Its fast tokenizer.
        name: What errors call it.
        cache_bytes: The most memory for beginnings of texts that may come again.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str, cache_bytes: int = CACHE_BYTES) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._name = name
        self._adapters = Adapters(model)
        self.engine = Engine(model, self._adapters, _end_tokens(model, tokenizer), cache_bytes=cache_bytes)
        self.context: int | None = getattr(model.config, "max_position_embeddings", None)

    @classmethod
    def load(
        cls, source: str | Path, *, device: str = "auto", precision: str = "auto", cache_bytes: int = CACHE_BYTES
    ) -> Self:
        """Reads weights from safetensors only; code that comes with a model is never run.

        Args:
            source: A directory, the id of a model on the hub, `"smollm2"`, or a GGUF file (converted once).
            device: Where to compute; auto takes a GPU where there is one.
            precision: Type of the weights: fp32, bf16, fp16, stored, or auto: the faster of fp32 and bf16 here.
            cache_bytes: As the class takes it.

        Raises:
            MissingExtra: transformers is not installed.
            ResourceError: No such model, no safetensors, or a damaged file.
            InvalidInput: No such device or precision.
        """
        place = pick_device(device)
        if precision == "auto":
            precision = measured_precision(place.type)
        if place.type == "cpu":
            use_own_cores()
        model, tokenizer = read_pretrained(
            _folder(source),
            "AutoModelForCausalLM",
            what="a causal language model",
            device=device,
            precision="auto" if precision == STORED else precision,
        )
        return cls(model, tokenizer, name=str(source), cache_bytes=cache_bytes)

    @classmethod
    def shared(cls, source: str, *, device: str, precision: str, cache_bytes: int) -> CausalModel:
        """The same as `load`, once a process; callers hold the one lock that loading takes."""
        key = (source, device, precision, cache_bytes)
        model = _shared.get(key)
        if model is None:
            model = _shared[key] = cls.load(source, device=device, precision=precision, cache_bytes=cache_bytes)
        return model

    def encode(self, turns: Sequence[dict[str, str]], begun: str = "") -> list[int]:
        """Writes a conversation in the model's chat template; a model without one gets the plain texts.

        Args:
            turns: Role and content of each.
            begun: The beginning of the reply, which is written on from; control tokens in it are read as such.
        """
        if self._tokenizer.chat_template:
            text = self._tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
            return list(self._tokenizer(text + begun, add_special_tokens=False)["input_ids"])
        texts = [*(turn["content"] for turn in turns), *([begun] if begun else [])]
        return list(self._tokenizer("\n\n".join(texts))["input_ids"])

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

    def generate(
        self, prompt: Sequence[int], *, limit: int, sampling: Sampling, adapter: str = BASE
    ) -> Generator[list[SampledToken | None]]:
        """Generates one reply for each seed, all of them a token further with each step.

        A reply depends on its own seed and prompt, whoever else is served at the same time; which tokens are computed
        together changes log-probabilities within rounding (1e-4 in fp32), and nothing else. Left before its end, a
        generator frees its rows.

        Args:
            prompt: Token ids.
            limit: The most tokens of a reply.
            sampling: How tokens are chosen, with a seed for each reply.
            adapter: The folder of an adapter that is laid over the network.

        Yields:
            One token for each reply; None for those that have ended.

        Raises:
            ModelError: The prompt leaves no room in the model's context.
            ResourceError: There is no such adapter, or it does not fit.
        """
        steps: SimpleQueue[list[SampledToken | None] | BaseException | None] = SimpleQueue()
        with closing(self._submit(steps.put, prompt, limit, sampling=sampling, network=adapter)):
            while (step := steps.get()) is not None:
                yield _raised(step)

    async def agenerate(
        self, prompt: Sequence[int], *, limit: int, sampling: Sampling, adapter: str = BASE
    ) -> AsyncGenerator[list[SampledToken | None]]:
        """The same on an event loop, of which no thread waits; a task that is cancelled frees its rows."""
        steps: asyncio.Queue[list[SampledToken | None] | BaseException | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def deliver(step: list[SampledToken | None] | BaseException | None) -> None:
            # A loop that has closed waits for nothing.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(steps.put_nowait, step)

        with closing(self._submit(deliver, prompt, limit, sampling=sampling, network=adapter)):
            while (step := await steps.get()) is not None:
                yield _raised(step)

    def _submit(self, deliver: Callable[[Any], None], prompt: Sequence[int], limit: int, **how: Any) -> Request:
        room = limit if self.context is None else min(limit, self.context - len(prompt))
        if room < 1:
            raise ModelError(
                f"{self._name} takes {self.context} tokens and the prompt has {len(prompt)}: shorten the evidence."
            )
        request = Request(prompt=prompt, limit=room, deliver=deliver, **how)
        self.engine.submit(request)
        return request

    def log_probabilities(
        self, text: str, *, prompt: Sequence[int] = (), adapter: str = BASE
    ) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given all before it.

        Without a prompt the first token has none. The prompt's keys and values are kept and used again.

        Args:
            text: What is weighed.
            prompt: Token ids that the text goes on from, as `encode` gives them.
            adapter: The folder of an adapter that is laid over the network.

        Raises:
            ResourceError: The model has no fast tokenizer, so no character offsets; or there is no such adapter.
        """
        if not self._tokenizer.is_fast:
            raise ResourceError(f"{self._name} has no fast tokenizer, so no character offsets; give another model.")
        batch = self._tokenizer(text, return_offsets_mapping=True, add_special_tokens=not prompt)
        tokens, first = [*prompt, *batch["input_ids"]], len(prompt) or 1
        offsets = [begin for begin, _ in batch["offset_mapping"]][first - len(prompt) :]
        found = self.engine.call(lambda: self._weigh(tokens, first, adapter))
        return list(zip(offsets, found, strict=True))

    def _weigh(self, tokens: list[int], first: int, adapter: str) -> list[float]:
        """The log-probabilities of the tokens from `first` on."""
        self._adapters.use(adapter)
        # What follows a token is told when it is read: the last one of what is known is read again.
        known = self.engine.cache.known(adapter, tokens[: first - 1])
        rows, found, place = Rows(self._model), list[float](), known + 1
        rows.join([self.engine.cache.find(adapter, tokens[:known])], ahead=len(tokens) - known)
        for scores in rows.scores([tokens[known:-1]]):
            given = torch.tensor(tokens[place : place + scores.shape[1]], device=scores.device)
            found += torch.log_softmax(scores[0].float(), -1).gather(1, given[:, None])[:, 0].tolist()
            place += scores.shape[1]
        if first > 1:
            self.engine.cache.keep(adapter, tokens[: first - 1], lambda begin, end: rows.states(0, begin, end))
        return found[first - known - 1 :]


def _raised(step: list[SampledToken | None] | BaseException) -> list[SampledToken | None]:
    if isinstance(step, BaseException):
        raise step
    return step


def _folder(source: str | Path) -> str | Path:
    if str(source) == SMOLLM2:
        return smollm2_folder()
    return convert(Path(source)) if str(source).endswith(".gguf") else source


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    configured = getattr(model.generation_config, "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    return frozenset(token for token in [*several, tokenizer.eos_token_id] if token is not None)
