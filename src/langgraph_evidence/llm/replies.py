"""Reads what came with a reply besides its text: token counts and log-probabilities, whoever the provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.types import Usage

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

# Servers write minus infinity as they like; JSON cannot hold it.
_LOWEST = -9999.0


def read_usage(message: BaseMessage) -> Usage:
    """Counts one call; a reply out of LangChain's cache is a cached call that cost no tokens."""
    counts: dict[str, Any] = dict(getattr(message, "usage_metadata", None) or {})
    # The mark that langchain-core puts on every message it takes out of a cache.
    if counts.get("total_cost") == 0:
        return Usage(calls=1, cached_calls=1, input_tokens=0, output_tokens=0, seconds=0.0)
    tokens_in, tokens_out = int(counts.get("input_tokens") or 0), int(counts.get("output_tokens") or 0)
    return Usage(calls=1, cached_calls=0, input_tokens=tokens_in, output_tokens=tokens_out, seconds=0.0)


def read_logprobs(message: BaseMessage) -> list[dict[str, Any]] | None:
    """Gives the chat format and the older completions format one shape: token, logprob, the top tokens' logprobs."""
    raw = message.response_metadata.get("logprobs")
    if not isinstance(raw, dict):
        return None
    if raw.get("tokens"):
        return _completions_format(raw)
    content = raw.get("content")
    if not isinstance(content, list):
        return None
    return [_entry(item["token"], item["logprob"], _pairs(item.get("top_logprobs"))) for item in content]


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
