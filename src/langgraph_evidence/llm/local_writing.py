"""What a local model's tokens become: replies as they grow, cut at their stop texts, with usage and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_evidence.llm.writing import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.models.causal import CausalModel, SampledToken

# What a tokenizer writes for bytes that are not a whole character yet.
_PARTIAL = "\ufffd"


class Writing:
    """A reply while it is written.

    Args:
        causal: Whose tokens they are.
        stop: Texts that end it, themselves left out.
        control: Whether its control tokens are shown.
    """

    def __init__(self, causal: CausalModel, stop: Sequence[str], *, control: bool) -> None:
        self._causal, self._stop, self._control = causal, stop, control
        self.tokens: list[SampledToken] = []
        self.text = ""
        self.ended = False
        self.finish = "length"

    def add(self, token: SampledToken | None) -> None:
        """Takes the next token; None, or a stop text, ends the reply."""
        if self.ended:
            return
        if token is None:
            self.ended, self.finish = True, "stop"
            return
        self.tokens.append(token)
        text = self._causal.decode([token.id for token in self.tokens], control=self._control)
        self.text = cut(text, self._stop)
        if self.text != text:
            self.ended, self.finish = True, "stop"

    def ready(self) -> str:
        """The text that no later token can take back: not the beginning of a stop text, nor of a character."""
        if self.ended:
            return self.text
        held = [
            size for mark in self._stop for size in range(1, len(mark)) if self.text.endswith(mark[:size])
        ]  # fmt: skip
        tail = len(self.text) - len(self.text.rstrip(_PARTIAL))
        return self.text[: len(self.text) - max([tail, *held])]

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


class Exchange:
    """One request while it is answered.

    Args:
        prompt: Its tokens.
        replies: To be written.
        model: The name that answers bear.
    """

    def __init__(self, prompt: Sequence[int], replies: Sequence[Writing], model: str) -> None:
        self._prompt, self._replies, self._model = prompt, replies, model
        self._sent = 0

    def take(self, step: Sequence[SampledToken | None]) -> bool:
        """Takes a token for each reply; tells whether all have ended."""
        for reply, token in zip(self._replies, step, strict=True):
            reply.add(token)
        return all(reply.ended for reply in self._replies)

    def result(self, *, logprobs: bool) -> ChatResult:
        """All replies; the first one bears the usage of all."""
        messages = [reply.message(logprobs=logprobs) for reply in self._replies]
        messages[0].usage_metadata = self._usage()
        messages[0].response_metadata["model_name"] = self._model
        return ChatResult(generations=[ChatGeneration(message=message) for message in messages])

    def news(self) -> AIMessageChunk | None:
        """What may be sent of the only reply and was not yet; None for nothing."""
        ready = self._replies[0].ready()
        text, self._sent = ready[self._sent :], max(self._sent, len(ready))
        return AIMessageChunk(content=text) if text else None

    def last(self) -> AIMessageChunk:
        """The rest of the only reply, and how it ended."""
        (reply,) = self._replies
        return AIMessageChunk(
            content=reply.text[self._sent :],
            usage_metadata=self._usage(),
            response_metadata={"model_name": self._model, "finish_reason": reply.finish},
            chunk_position="last",
        )

    def _usage(self) -> UsageMetadata:
        written = sum(len(reply.tokens) for reply in self._replies)
        prompt = len(self._prompt)
        return UsageMetadata(input_tokens=prompt, output_tokens=written, total_tokens=prompt + written)
