"""A chat model that follows a script: replies are chosen by what is asked, never by the order of the calls."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict, Field, PrivateAttr, field_validator
from typing_extensions import override

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.scripts import Asks, Fault, matches, pick
from langgraph_evidence.llm.writing import cut, in_words, sent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.outputs import ChatGenerationChunk
    from langchain_core.runnables import Runnable

    from langgraph_evidence.llm.prompt import PromptCall
    from langgraph_evidence.llm.scripts import Scripted


class ScriptedChat(BaseChatModel):
    """A chat model for tests of graphs and prompts, safe under any number of threads and loops.

    A rule is a pair of what to look for and what to reply. The first rule that matches decides. A match is `Asks`, by
    which a prompt of this package is known by its name and values; or, in the text of all messages with one empty line
    between them, a regular expression (in a string `.` matches line breaks too) or a function. A reply is a text, an
    AIMessage, a list of them taken by the call's seed or the sample's number (from the start again past its end), or a
    function of the text, or of the PromptCall that `Asks` matched, and that number.

    Args:
        rules: The script.
        latency: Seconds that every call takes.
        faults: What goes wrong, as `Fault` or a dict of its fields.
        deterministic: Whether `LanguageModel.sample` numbers its calls by seeds 0, 1, 2, ...
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    reads_prompts: ClassVar[bool] = True

    rules: list[tuple[Any, Any]] = Field(default_factory=list)
    latency: float = 0.0
    faults: list[Fault] = Field(default_factory=list)
    deterministic: bool = True
    model_name: str = "scripted"
    n: int = 1
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None

    _record: _Record = PrivateAttr(default_factory=lambda: _Record())

    @field_validator("faults", mode="before")
    @classmethod
    def _read_faults(cls, faults: Sequence[Any]) -> list[Fault]:
        return [Fault(**fault) if isinstance(fault, dict) else fault for fault in faults]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Every call so far: `messages`, `text`, `prompt`, `kwargs`, `started`, `ended` (None while it runs)."""
        return self._record.calls

    @property
    def most_in_flight(self) -> int:
        """The most calls that ran at the same time."""
        return self._record.most_in_flight

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Passes the tools on with each call, where the record shows them; scripted AIMessages may call them."""
        return self.bind(tools=tools, **kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._record.call(messages, {"stop": stop, **kwargs}) as text:
            fault = self._fault(text, kwargs.get("prompt"))
            time.sleep(self.latency + fault.hang)
            return self._reply(text, fault, {"stop": stop, **kwargs})

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._record.call(messages, {"stop": stop, **kwargs}) as text:
            fault = self._fault(text, kwargs.get("prompt"))
            await asyncio.sleep(self.latency + fault.hang)
            return self._reply(text, fault, {"stop": stop, **kwargs})

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in in_words(self._generate(messages, stop, **kwargs)):
            yield sent(chunk, run_manager)

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in in_words(await self._agenerate(messages, stop, **kwargs)):
            made = sent(chunk, None)
            if run_manager is not None:
                await run_manager.on_llm_new_token(made.text, chunk=made)
            yield made

    def _fault(self, text: str, prompt: PromptCall | None) -> Fault:
        with self._record.lock:
            for fault in self.faults:
                if fault.times != 0 and matches(fault.match, text, prompt):
                    fault.times = None if fault.times is None else fault.times - 1
                    return fault
        return Fault()

    def _reply(self, text: str, fault: Fault, kwargs: dict[str, Any]) -> ChatResult:
        failure = fault.failure()
        if failure is not None:
            raise failure
        seed = kwargs.get("seed", self.seed) or 0
        stop = kwargs.get("stop") or self.stop or []
        instead = fault.reply()
        replies = [
            _as_message(self._scripted(text, kwargs.get("prompt"), seed + offset) if instead is None else instead, stop)
            for offset in range(kwargs.get("n") or self.n)
        ]
        _count(replies, text)
        if kwargs.get("logprobs"):
            for reply in replies:
                reply.response_metadata.setdefault("logprobs", _logprobs(str(reply.text)))
        return ChatResult(generations=[ChatGeneration(message=reply) for reply in replies])

    def _scripted(self, text: str, prompt: PromptCall | None, index: int) -> Scripted:
        for match, reply in self.rules:
            if matches(match, text, prompt):
                return pick(reply, prompt if prompt is not None and isinstance(match, Asks) else text, index)
        known = "\n".join(
            f"- {match if isinstance(match, str) else getattr(match, '__name__', match)}" for match, _ in self.rules
        )
        raise InvalidInput(
            f"No rule of the script matches this prompt{f', {prompt.name}' if prompt else ''}:\n{text}\n\n"
            f"The rules look for:\n{known or '- nothing'}"
        )


class _Record:
    """What a scripted model and its copies were asked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls: list[dict[str, Any]] = []
        self.most_in_flight = 0
        self._in_flight = 0

    @contextmanager
    def call(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Iterator[str]:
        """Records one call while it runs; gives the text that rules are matched with."""
        text = "\n\n".join(str(message.text) for message in messages)
        given = {name: value for name, value in kwargs.items() if value is not None}
        row = {"messages": messages, "text": text, "prompt": given.pop("prompt", None), "kwargs": given}
        row |= {"started": time.monotonic(), "ended": None}
        with self.lock:
            self.calls.append(row)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            yield text
        finally:
            with self.lock:
                self._in_flight -= 1
                row["ended"] = time.monotonic()


def _as_message(reply: Scripted, stop: Sequence[str]) -> AIMessage:
    if isinstance(reply, AIMessage):
        return reply.model_copy(deep=True)
    return AIMessage(cut(reply, stop))


def _count(replies: list[AIMessage], text: str) -> None:
    """Words stand for tokens; the first of n replies carries the usage of all, as one request has one bill."""
    written = sum(len(str(reply.text).split()) for reply in replies)
    read = len(text.split())
    first = replies[0]
    if first.usage_metadata is None:
        first.usage_metadata = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    first.response_metadata.setdefault("model_name", "scripted")


def _logprobs(text: str) -> dict[str, Any]:
    rows = [
        {"token": token, "logprob": -0.5, "top_logprobs": [{"token": token, "logprob": -0.5}]}
        for token in re.findall(r"\s*\S+|\s+$", text)
    ]
    return {"content": rows}
