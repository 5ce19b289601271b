"""Replies, and what is read of them besides their text: token counts and log-probabilities, whoever the provider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from langgraph_evidence.budget import total_usage
from langgraph_evidence.errors import ModelError
from langgraph_evidence.llm.bodies import read_count
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from langgraph_evidence.types import Usage

T = TypeVar("T")

# Servers write minus infinity as they like; JSON cannot hold it.
_LOWEST = -9999.0


@dataclass(frozen=True)
class Reply(Generic[T]):
    """One parsed reply.

    Attributes:
        value: What `parse` made of the text.
        text: The reply as it came.
        usage: Of all calls it took, the failed ones included.
        logprobs: As in `Sample`.
        truncated: As in `Sample`.
    """

    value: T
    text: str
    usage: Usage
    logprobs: list[dict[str, Any]] | None = None
    truncated: bool = False


@dataclass(frozen=True)
class Sample:
    """One of n sampled replies.

    Attributes:
        text: The reply as it came; empty where the call failed.
        usage: Its share, failed tries included: the samples' usages add up to that of the round, seconds to its wall
            time.
        logprobs: One entry a token, `{"token", "logprob", "top": {token: logprob}}`, where asked for and given.
        error: Why this call failed, where it did and another one did not.
        truncated: Whether the model says that the reply was cut at its limit of tokens.
    """

    text: str
    usage: Usage
    logprobs: list[dict[str, Any]] | None = None
    error: str | None = None
    truncated: bool = False


def settle(drawn: Sequence[Sample | ModelError], seconds: float) -> list[Sample]:
    """Failed calls become samples that say so, unless nothing at all succeeded; each has its share of the time.

    Raises:
        ModelError: Nothing succeeded; the first failure, with the usage of all.
    """
    failures = [outcome for outcome in drawn if isinstance(outcome, ModelError)]
    if len(failures) == len(drawn):
        failures[0].usage = _timed(total_usage(failure.usage or no_usage() for failure in failures), seconds)
        raise failures[0]
    share = seconds / len(drawn)
    return [
        Sample("", _timed(outcome.usage or no_usage(), share), error=str(outcome))
        if isinstance(outcome, ModelError)
        else replace(outcome, usage=_timed(outcome.usage, share))
        for outcome in drawn
    ]


def _timed(row: Usage, seconds: float) -> Usage:
    return {**row, "seconds": seconds}


def add_usage(row: Usage, message: BaseMessage) -> None:
    """Adds what a reply cost to the row of its tries; one out of LangChain's cache is a cached call without tokens."""
    counts: dict[str, Any] = dict(getattr(message, "usage_metadata", None) or {})
    # The mark that langchain-core puts on every message it takes out of a cache.
    if counts.get("total_cost") == 0:
        row["cached_calls"] += 1
        return
    row["input_tokens"] += read_count(counts.get("input_tokens")) or 0
    row["output_tokens"] += read_count(counts.get("output_tokens")) or 0


# How servers call the limit of tokens, and where they say that it was reached.
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_length"})
_ENDS = ("finish_reason", "stop_reason", "done_reason")


def is_truncated(message: BaseMessage) -> bool:
    """Whether the model says that it was cut at its limit of tokens, whoever the provider."""
    return any(message.response_metadata.get(end) in _CUT for end in _ENDS)


def read_logprobs(message: BaseMessage) -> list[dict[str, Any]] | None:
    """Gives the chat format and the older completions format one shape; None for what is neither."""
    raw: Any = message.response_metadata.get("logprobs")
    try:
        if raw.get("tokens"):
            return _completions_format(raw)
        return [_entry(item["token"], item["logprob"], _pairs(item.get("top_logprobs"))) for item in raw["content"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _pairs(items: list[dict[str, Any]] | None) -> list[tuple[str, float]]:
    return [(item["token"], item["logprob"]) for item in items or []]


def _completions_format(raw: dict[str, Any]) -> list[dict[str, Any]]:
    tops = raw.get("top_logprobs") or [{}] * len(raw["tokens"])
    rows = zip(raw["tokens"], raw["token_logprobs"], tops, strict=True)
    return [_entry(token, logprob, list((top or {}).items())) for token, logprob, top in rows]


def _entry(token: str, logprob: float | None, top: list[tuple[str, float]]) -> dict[str, Any]:
    best: dict[str, float] = {}
    for name, value in top:
        # Different tokens may be written alike; the likelier one stands for the text.
        best[name] = max(best.get(name, _LOWEST), float(value))
    return {"token": token, "logprob": _LOWEST if logprob is None else max(float(logprob), _LOWEST), "top": best}
