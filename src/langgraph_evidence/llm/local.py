"""A chat model that runs a transformers causal model in this process: no server, no key."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr
from typing_extensions import override

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.writing import cut, sent
from langgraph_evidence.models import loading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.outputs import ChatGenerationChunk

    from langgraph_evidence.models.causal import Allowed, CausalModel, SampledToken

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}
# What a tokenizer writes for bytes that are not a whole character yet.
_PARTIAL = "\ufffd"


class LocalChat(BaseChatModel):
    """A causal language model from a directory or the hub, as a LangChain chat model.

    It gives n replies in one batch, a seed to each, log-probabilities in the OpenAI shape, usage, and streams; weights
    are read at the first call, from safetensors only.

    Beside its own settings a call takes `continue_final_message=True` (the last message is the beginning of the reply,
    which is written on from; the reply is what was added), `allowed_tokens` (texts of one token each, one of which has
    to come first), `skip_special_tokens=False` (the reply's control tokens are shown) and `logprobs` with
    `top_logprobs`, in the words of OpenAI's and vLLM's chat API. A `stop` text may be a control token.

    Args:
        model: `"smollm2"` (after `evidence models get smollm2`), a directory, a GGUF file, or an id on the hub.
        device: As torch names it; auto takes a GPU where there is one.
        precision: fp32, bf16 or fp16; auto takes the type the weights are stored in.
        temperature: Of sampling; 0 takes the likeliest token.
        top_p: The share of probability that is sampled from.
        max_tokens: The most tokens of a reply.
        seed: Of the first reply; the next ones count on from it.
        n: Replies to one request.
        stop: Texts that end a reply, themselves left out.
    """

    model: str
    device: str = "auto"
    precision: str = "auto"
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    n: int = 1
    stop: list[str] | None = None
    deterministic: bool = True

    _loaded: _Loaded = PrivateAttr(default_factory=lambda: _Loaded())

    def __init__(self, model: str, **settings: Any) -> None:
        super().__init__(model=model, **settings)

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
        prompt = _encoded(causal, messages, kwargs)
        replies = [self._writing(causal, stop, kwargs) for _ in range(kwargs.get("n") or self.n)]
        for step in self._steps(causal, prompt, len(replies), kwargs):
            for reply, token in zip(replies, step, strict=True):
                reply.add(token)
            if all(reply.ended for reply in replies):
                break
        made = [ChatGeneration(message=reply.message(logprobs=bool(kwargs.get("logprobs")))) for reply in replies]
        first = made[0].message
        if isinstance(first, AIMessage):
            first.usage_metadata = _usage(prompt, replies)
        first.response_metadata["model_name"] = self.model
        return ChatResult(generations=made)

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        causal = self._loaded.get(self)
        prompt = _encoded(causal, messages, kwargs)
        reply = self._writing(causal, stop, kwargs)
        written = 0
        for (token,) in self._steps(causal, prompt, 1, kwargs):
            reply.add(token)
            ready = reply.text if reply.ended else reply.text[: reply.certain()]
            if len(ready) > written:
                yield sent(AIMessageChunk(content=ready[written:]), run_manager)
                written = len(ready)
            if reply.ended:
                break
        last = AIMessageChunk(
            content=reply.text[written:],
            usage_metadata=_usage(prompt, [reply]),
            response_metadata={"model_name": self.model, "finish_reason": reply.finish},
            chunk_position="last",
        )
        yield sent(last, run_manager)

    def _writing(self, causal: CausalModel, stop: list[str] | None, kwargs: dict[str, Any]) -> _Writing:
        return _Writing(causal, stop or self.stop or [], control=kwargs.get("skip_special_tokens") is False)

    def _steps(
        self, causal: CausalModel, prompt: list[int], n: int, kwargs: dict[str, Any]
    ) -> Iterator[list[SampledToken | None]]:
        from langgraph_evidence.models.causal import Sampling

        seed = kwargs.get("seed", self.seed) or 0
        sampling = Sampling(
            seeds=range(seed, seed + n),
            temperature=kwargs.get("temperature", self.temperature) or 0.0,
            top_p=kwargs.get("top_p", self.top_p),
            top=kwargs.get("top_logprobs") or 0,
            allowed=_first_of(causal, kwargs.get("allowed_tokens")),
        )
        return causal.generate(prompt, limit=kwargs.get("max_tokens") or self.max_tokens, sampling=sampling)


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
                self._causal = CausalModel.load(chat.model, device=chat.device, precision=chat.precision)
            return self._causal


class _Writing:
    """A reply while it is written."""

    def __init__(self, causal: CausalModel, stop: Sequence[str], *, control: bool) -> None:
        self._causal, self._control = causal, control
        # A control token is no part of the decoded text: it is known by its number.
        marks = {mark: causal.control_token(mark) for mark in stop if mark}
        self._stop = [mark for mark, token in marks.items() if token is None]
        self._stop_tokens = {token for token in marks.values() if token is not None}
        self.tokens: list[SampledToken] = []
        self.text = ""
        self.ended = False
        self.finish = "length"

    def add(self, token: SampledToken | None) -> None:
        """Takes the next token; None, or a stop text, ends the reply."""
        if self.ended:
            return
        if token is None or token.id in self._stop_tokens:
            self.ended, self.finish = True, "stop"
            return
        self.tokens.append(token)
        text = self._causal.decode([token.id for token in self.tokens], control=self._control)
        self.text = cut(text, self._stop)
        if self.text != text:
            self.ended, self.finish = True, "stop"

    def certain(self) -> int:
        """How much of the text no later token can take back: not the beginning of a stop text, nor of a character."""
        held = [
            size for mark in self._stop for size in range(1, len(mark)) if self.text.endswith(mark[:size])
        ]  # fmt: skip
        tail = len(self.text) - len(self.text.rstrip(_PARTIAL))
        return len(self.text) - max([tail, *held])

    def message(self, *, logprobs: bool) -> AIMessage:
        """The finished reply."""
        about: dict[str, Any] = {"finish_reason": self.finish}
        if logprobs:
            about["logprobs"] = {"content": [self._row(token) for token in self.tokens]}
        return AIMessage(self.text, response_metadata=about)

    def _row(self, token: SampledToken) -> dict[str, Any]:
        top = [{"token": self._text(other), "logprob": logprob} for other, logprob in token.top]
        return {"token": self._text(token.id), "logprob": token.logprob, "top_logprobs": top}

    def _text(self, token: int) -> str:
        return self._causal.decode([token], control=True)


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


def _usage(prompt: Sequence[int], replies: Sequence[_Writing]) -> UsageMetadata:
    written = sum(len(reply.tokens) for reply in replies)
    return UsageMetadata(input_tokens=len(prompt), output_tokens=written, total_tokens=len(prompt) + written)
