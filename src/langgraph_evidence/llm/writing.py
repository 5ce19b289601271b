"""How this package's own chat models write a reply: cut at its stop texts, and as a stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.outputs import ChatResult


def cut(text: str, stop: Sequence[str] | None) -> str:
    """The text up to the first of its stop texts."""
    ends = [text.find(mark) for mark in stop or () if mark]
    return text[: min((end for end in ends if end >= 0), default=len(text))]


def sent(message: AIMessageChunk, run_manager: CallbackManagerForLLMRun | None) -> ChatGenerationChunk:
    """A chunk of a stream, of which the callbacks are told."""
    chunk = ChatGenerationChunk(message=message)
    if run_manager is not None:
        run_manager.on_llm_new_token(chunk.text, chunk=chunk)
    return chunk


def in_words(result: ChatResult) -> Iterator[AIMessageChunk]:
    """The first reply of a result, word by word; what else is known of it comes last."""
    message = result.generations[0].message
    for word in re.findall(r"\S+\s*|\s+", str(message.text)):
        yield AIMessageChunk(content=word)
    usage = getattr(message, "usage_metadata", None)
    about = message.response_metadata
    yield AIMessageChunk(content="", response_metadata=about, usage_metadata=usage, chunk_position="last")
