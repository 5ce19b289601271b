"""A chat model that reads the names and values of this package's prompts and replies in their protocols."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field
from typing_extensions import override

from langgraph_evidence.llm.writing import cut, in_words, sent

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.language_models import LangSmithParams

    from langgraph_evidence.llm.prompt import PromptCall

MODEL_NAME = "offline"

UNKNOWN = (
    "I am the offline model of langgraph-evidence: a small extractive program, not a language model. I reply only to "
    "the prompts of this package's methods, and this is none of them. Choose a language model for anything else."
)
"""The reply to a prompt that no responder knows."""

Responder = Callable[[Mapping[str, Any], float, random.Random], str]
"""Takes a prompt's values, a temperature and a source of random numbers; gives the reply."""

Responders = Mapping[str, Responder]
"""How to reply to the prompts of a method, by their names."""


def _conversation(messages: Sequence[BaseMessage]) -> str:
    """What the random numbers start from, with the seed: the system text and the last user turn, not the examples."""
    system = "\n".join(message.text for message in messages if isinstance(message, SystemMessage))
    users = [message.text for message in messages if message.type == "human"]
    return f"Conversation(system={system!r}, user={users[-1] if users else ''!r})"


def _count(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


class OfflineChat(BaseChatModel):
    """The offline model: extraction over the shared encoder, in the text protocols of this package's methods.

    It replies to a prompt's name and values, which come with the call as `prompt`; its words alone, and a name that no
    responder is for, get a text that says so. The same call, seed and temperature give the same reply; of the n samples
    of one call each has its own random numbers.

    Args:
        responders: How to reply, by the prompts' names; each method brings its own.
        temperature: How far a sample may stray from the best reply; 0 never does.
        seed: Where the random numbers start.
    """

    deterministic: ClassVar[bool] = True
    reads_prompts: ClassVar[bool] = True

    responders: dict[str, Responder] = Field(default_factory=dict, repr=False, exclude=True)
    temperature: float = Field(0.0, ge=0.0)
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": MODEL_NAME, "temperature": self.temperature, "seed": self.seed}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop, **kwargs)
        params["ls_provider"] = "langgraph_evidence"
        params.setdefault("ls_model_name", MODEL_NAME)
        params["ls_temperature"] = self._temperature(kwargs)
        return params

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        # A stream carries one reply; several would be run together.
        return _samples(kwargs) > 1 or super()._streaming_disabled(**kwargs)

    def _temperature(self, kwargs: dict[str, Any]) -> float:
        given = kwargs.get("temperature")
        return self.temperature if given is None else float(given)

    def _text(self, messages: Sequence[BaseMessage], kwargs: dict[str, Any], sample: int) -> str:
        prompt: PromptCall | None = kwargs.get("prompt")
        respond = self.responders.get(prompt.name) if prompt is not None else None
        if prompt is None or respond is None:
            return UNKNOWN
        given = kwargs.get("seed")
        rng = random.Random(f"{self.seed if given is None else given}/{sample}/{_conversation(messages)}")
        return respond(prompt.values, self._temperature(kwargs), rng)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        count = _samples(kwargs)
        texts = [cut(self._text(messages, kwargs, sample), stop) for sample in range(count)]
        usage = _usage(messages, texts)
        generations = [
            # What a call cost is told once, so that a sum over its samples is right.
            ChatGeneration(message=_message(text, usage if index == 0 else None))
            for index, text in enumerate(texts)
        ]
        return ChatResult(generations=generations, llm_output={"model_name": MODEL_NAME, "token_usage": dict(usage)})

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


def _samples(kwargs: dict[str, Any]) -> int:
    return max(int(kwargs.get("n") or 1), 1)


def _usage(messages: Sequence[BaseMessage], texts: Sequence[str]) -> UsageMetadata:
    given = sum(_count(message.text) for message in messages)
    written = sum(_count(text) for text in texts)
    return UsageMetadata(input_tokens=given, output_tokens=written, total_tokens=given + written)


def _message(text: str, usage: UsageMetadata | None) -> AIMessage:
    return AIMessage(content=text, response_metadata={"model_name": MODEL_NAME}, usage_metadata=usage)
