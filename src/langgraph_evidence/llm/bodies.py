"""What an HTTP 200 of an OpenAI-compatible server holds: a reply, the readable part of one, or none at all."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.outputs import ChatResult

_READS = "_create_chat_result"
_COUNTS = ("prompt_tokens", "completion_tokens")
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
# What a message says when it has no text, and why a model may end without having written any.
_OTHER_WORDS = ("tool_calls", "function_call", "refusal", "reasoning", "reasoning_content")
_SILENT_ENDS = ("length", "content_filter")
_SHOWN = 200


class BadBody(Exception):
    """A reply that is none.

    Args:
        what: What came instead.
        status: The HTTP status that the body itself names, where it does.
    """

    def __init__(self, what: str, status: int | None = None) -> None:
        super().__init__(what)
        self.status_code = status


def read_with_care(model: BaseChatModel) -> None:
    """Makes langchain-openai, whose model this is, read bodies after `tidied` has looked at them; others stay."""
    if hasattr(model, _READS):
        object.__setattr__(model, "__class__", _careful(type(model)))


@lru_cache(maxsize=32)
def _careful(kind: type[BaseChatModel]) -> type[BaseChatModel]:
    reads, make = getattr(kind, _READS), cast("Any", type(kind))

    def read(self: Any, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result: ChatResult = reads(self, tidied(response), generation_info)
        return result

    # Under the same name, by which caches and traces know a model.
    namespace = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, _READS: read}
    careful: type[BaseChatModel] = make(kind.__name__, (kind,), namespace)
    return careful


def tidied(response: Any) -> Any:
    """The response without the choices that say nothing, and with what of its usage can be read.

    Raises:
        BadBody: It is no object, tells of an error, or no choice says anything.
    """
    body = response if isinstance(response, dict) else _dumped(response)
    if body.get("error"):
        raise BadBody(f"an error in place of a reply: {_shown(body['error'])}", _status_in(body["error"]))
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise BadBody(f"no choices: {_shown(body)}")
    kept = [number for number, choice in enumerate(choices) if _says_something(choice)]
    if not kept:
        raise BadBody(f"choices without a message: {_shown(choices)}")
    if isinstance(response, dict):
        return {**body, "choices": [choices[number] for number in kept], "usage": tidied_usage(body.get("usage"))}
    held = [response.choices[number] for number in kept]
    return response.model_copy(update={"choices": held, "usage": tidied_usage(body.get("usage"))})


def tidied_usage(usage: Any) -> dict[str, Any] | None:
    """The counts as whole numbers, with details that are whole numbers too; None where nothing was counted."""
    if not isinstance(usage, dict):
        return None
    counts = {name: count for name in _COUNTS if (count := read_count(usage.get(name))) is not None}
    if not counts:
        return None
    found: dict[str, Any] = {**dict.fromkeys(_COUNTS, 0), **counts}
    found["total_tokens"] = sum(found.values())
    for name in _DETAILS:
        details = usage.get(name)
        if isinstance(details, dict):
            found[name] = {key: count for key, value in details.items() if (count := read_count(value)) is not None}
    return found


_ABSURD = 2**53


def read_count(value: Any) -> int | None:
    """A count of tokens, also when it is written as text or with a point; None for what counts nothing."""
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    # No checkpoint holds more than 64 bits, and no server read so much.
    return count if 0 <= count < _ABSURD else None


def _dumped(response: Any) -> dict[str, Any]:
    try:
        body = response.model_dump(warnings=False)
    except AttributeError:
        raise BadBody(f"no JSON object: {_shown(response)}") from None
    return dict(body)


def _says_something(choice: Any) -> bool:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    spoken = isinstance(message.get("content"), str | list) or any(message.get(name) for name in _OTHER_WORDS)
    return spoken or choice.get("finish_reason") in _SILENT_ENDS


def _status_in(error: Any) -> int | None:
    code = read_count(error.get("code")) if isinstance(error, dict) else None
    return code if code is not None and 400 <= code < 600 else None


def _shown(value: Any) -> str:
    return " ".join(str(value).split())[:_SHOWN]
