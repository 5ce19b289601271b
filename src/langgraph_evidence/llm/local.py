"""A chat model that runs a transformers causal model in this process: no server, no key."""

from __future__ import annotations

import threading
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk
from pydantic import Field, PrivateAttr, field_validator
from typing_extensions import override

from langgraph_evidence.concurrency import in_thread
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.local_writing import Exchange, Writing
from langgraph_evidence.llm.writing import sent
from langgraph_evidence.models import loading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from pathlib import Path

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_core.outputs import ChatResult

    from langgraph_evidence.models.causal import Allowed, CausalModel

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class LocalChat(BaseChatModel):
    """A causal language model from a directory or the hub, as a LangChain chat model.

    It gives n replies in one batch, a seed to each, log-probabilities in the OpenAI shape, usage, and streams; weights
    are read at the first call, from safetensors only, once for all chat models of a process that name them alike.
    Calls at the same time share forward passes, and beginnings that prompts have in common are computed once. A call
    that is cancelled, and a stream that is left, free their place.

    Beside its own settings a call takes `continue_final_message=True` (the last message is the beginning of the reply,
    which is written on from; the reply is what was added), `allowed_tokens` (texts of one token each, one of which has
    to come first), `skip_special_tokens=False` (the reply's control tokens are shown) and `logprobs` with
    `top_logprobs`, in the words of OpenAI's and vLLM's chat API. A `stop` text may be a control token.

    Args:
        model: `"smollm2"` (after `evidence models get smollm2`), a directory, a GGUF file, or an id on the hub.
        device: As torch names it; auto takes a GPU where there is one.
        precision: fp32, bf16, fp16, stored (the type of the weights), or auto: the faster of fp32 and bf16 here.
        adapters: Folders of LoRA adapters, as peft saves them, by the names that calls use.
        adapter: Which of them is laid over the model; without it none is.
        temperature: Of sampling; 0 takes the likeliest token.
        top_p: The share of probability that is sampled from.
        max_tokens: The most tokens of a reply.
        seed: Of the first reply; the next ones count on from it.
        n: Replies to one request.
        stop: Texts that end a reply, themselves left out.
        cache_bytes: The most memory for beginnings of prompts that may come again.
    """

    model: str
    device: str = "auto"
    precision: str = "auto"
    adapters: dict[str, str] = Field(default_factory=dict)
    adapter: str | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    n: int = 1
    stop: list[str] | None = None
    cache_bytes: int = 2**29
    deterministic: bool = True

    _loaded: _Loaded = PrivateAttr(default_factory=lambda: _Loaded())

    def __init__(self, model: str, **settings: Any) -> None:
        super().__init__(model=model, **settings)

    @field_validator("adapters", mode="before")
    @classmethod
    def _as_text(cls, adapters: Mapping[str, str | Path]) -> dict[str, str]:
        return {name: str(folder) for name, folder in adapters.items()}

    @property
    def _llm_type(self) -> str:
        return "local"

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        # A stream carries one reply and, under LangGraph's third protocol, the last token's log-probabilities alone.
        whole = (kwargs.get("n") or self.n) > 1 or bool(kwargs.get("logprobs"))
        return whole or super()._streaming_disabled(**kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        causal = self._loaded.get(self)
        exchange, request = self._begun(causal, messages, stop, kwargs)
        with closing(causal.generate(**request)) as steps:
            for step in steps:
                if exchange.take(step):
                    break
        return exchange.result(logprobs=bool(kwargs.get("logprobs")))

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        causal = await in_thread(self._loaded.get, self)
        exchange, request = self._begun(causal, messages, stop, kwargs)
        async with aclosing(causal.agenerate(**request)) as steps:
            async for step in steps:
                if exchange.take(step):
                    break
        return exchange.result(logprobs=bool(kwargs.get("logprobs")))

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        causal = self._loaded.get(self)
        exchange, request = self._begun(causal, messages, stop, {**kwargs, "n": 1})
        with closing(causal.generate(**request)) as steps:
            for step in steps:
                ended = exchange.take(step)
                if (chunk := exchange.news()) is not None:
                    yield sent(chunk, run_manager)
                if ended:
                    break
        yield sent(exchange.last(), run_manager)

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        causal = await in_thread(self._loaded.get, self)
        exchange, request = self._begun(causal, messages, stop, {**kwargs, "n": 1})
        async with aclosing(causal.agenerate(**request)) as steps:
            async for step in steps:
                ended = exchange.take(step)
                if (chunk := exchange.news()) is not None:
                    yield await _told(chunk, run_manager)
                if ended:
                    break
        yield await _told(exchange.last(), run_manager)

    def _begun(
        self, causal: CausalModel, messages: Sequence[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> tuple[Exchange, dict[str, Any]]:
        """The replies to be written, and what the causal model is asked."""
        from langgraph_evidence.models.causal import Sampling

        prompt = _encoded(causal, messages, kwargs)
        # A control token is no part of the decoded text: it is known by its number.
        marks = {mark: causal.control_token(mark) for mark in stop or self.stop or [] if mark}
        texts = [mark for mark, token in marks.items() if token is None]
        seed, n = kwargs.get("seed", self.seed) or 0, kwargs.get("n") or self.n
        sampling = Sampling(
            seeds=range(seed, seed + n),
            temperature=kwargs.get("temperature", self.temperature) or 0.0,
            top_p=kwargs.get("top_p", self.top_p),
            top=kwargs.get("top_logprobs") or 0,
            allowed=_first_of(causal, kwargs.get("allowed_tokens")),
            ends=[token for token in marks.values() if token is not None],
        )
        control = kwargs.get("skip_special_tokens") is False
        exchange = Exchange(prompt, [Writing(causal, texts, control=control) for _ in range(n)], self.model)
        limit = kwargs.get("max_tokens") or self.max_tokens
        adapter = self._adapter(kwargs.get("adapter", self.adapter))
        return exchange, {"prompt": prompt, "limit": limit, "sampling": sampling, "adapter": adapter}

    def _adapter(self, name: str | None) -> str:
        if name is None:
            return ""
        if name not in self.adapters:
            raise InvalidInput(
                f"There is no adapter {name!r}; given were: {', '.join(sorted(self.adapters)) or 'none'}."
            )
        return str(self.adapters[name])


class _Loaded:
    """The network, read once for a chat model and all copies of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._causal: CausalModel | None = None

    def get(self, chat: LocalChat) -> CausalModel:
        with self._lock:
            if self._causal is None:
                with loading():
                    from langgraph_evidence.models.causal import CausalModel

                    self._causal = CausalModel.shared(
                        chat.model, device=chat.device, precision=chat.precision, cache_bytes=chat.cache_bytes
                    )
            return self._causal


async def _told(message: AIMessageChunk, run_manager: AsyncCallbackManagerForLLMRun | None) -> ChatGenerationChunk:
    chunk = ChatGenerationChunk(message=message)
    if run_manager is not None:
        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
    return chunk


def _encoded(causal: CausalModel, messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> list[int]:
    if not kwargs.get("continue_final_message"):
        return causal.encode(_turns(messages))
    if not messages or messages[-1].type != "ai":
        raise InvalidInput(
            "continue_final_message was asked for and the last message is not the beginning of a reply: give an"
            " AIMessage last."
        )
    return causal.encode(_turns(messages[:-1]), begun=str(messages[-1].text))


def _first_of(causal: CausalModel, texts: Sequence[str] | None) -> Allowed | None:
    """Holds the first token of a reply to those that are given, and leaves the rest free."""
    if texts is None:
        return None
    tokens = [causal.token(text) for text in texts]
    if not tokens:
        raise InvalidInput("allowed_tokens was given none; give at least one text that is one token, or leave it out.")
    return lambda reply: None if reply else tokens


def _turns(messages: Sequence[BaseMessage]) -> list[dict[str, str]]:
    return [{"role": _ROLES.get(message.type, "user"), "content": str(message.text)} for message in messages]
