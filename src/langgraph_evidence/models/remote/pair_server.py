"""Pairs of texts scored by a server: Text Embeddings Inference (TEI) or vLLM, told apart by how the URL's path ends.

| path | server and model |
| --- | --- |
| `/predict` | TEI with any sequence classifier |
| `/rerank` | TEI with a model of one output |
| `/score` | vLLM with a model of one output |
| `/v1/rerank`, `/v2/rerank` | vLLM with a model of one output |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.remote.client import post_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Protocol = Literal["predict", "rerank", "score", "v1/rerank"]
Pair = tuple[str, str]
Outputs = dict[str, float]
"""A pair's probabilities by the names that the server gives its model's outputs; `SINGLE` where it names none."""

SINGLE = ""
_ENDINGS: dict[tuple[str, ...], Protocol] = {
    ("v1", "rerank"): "v1/rerank",
    ("v2", "rerank"): "v1/rerank",
    ("predict",): "predict",
    ("rerank",): "rerank",
    ("score",): "score",
}
# The number of inputs that a TEI server takes in one request unless it was started with another.
_BATCH = 32
# vLLM's word for as many tokens as the model reads; without it a longer text is refused.
_WHOLE_MODEL = -1


class PairServer:
    """A server that gives probabilities of pairs; it is asked in batches, and nothing of its reply is taken on trust.

    Args:
        url: Where to post; its path says what is spoken there (see the module).
        key: A bearer token.
        seconds: How long a request may take.

    Raises:
        InvalidInput: The URL's path ends in none of the known ones.
    """

    def __init__(self, url: str, *, key: str | None = None, seconds: float = 60.0) -> None:
        self.url, self.protocol = url, _protocol(url)
        self._key, self._seconds = key, seconds

    def probabilities(self, pairs: Sequence[Pair]) -> list[Outputs]:
        """The outputs of each pair.

        Raises:
            ModelError: The server cannot be reached, refuses, or answers something else.
        """
        found: dict[int, Outputs] = {}
        for batch in self._batches(pairs):
            found |= zip(batch, self._ask([pairs[index] for index in batch]), strict=True)
        return [found[index] for index in range(len(pairs))]

    def _batches(self, pairs: Sequence[Pair]) -> Iterator[list[int]]:
        """Indexes that one request can hold: so many, and for the rerank protocols of one first text."""
        together: dict[str, list[int]] = {}
        for index, (first, _) in enumerate(pairs):
            together.setdefault(first if self.protocol.endswith("rerank") else "", []).append(index)
        for indexes in together.values():
            for start in range(0, len(indexes), _BATCH):
                yield indexes[start : start + _BATCH]

    def _ask(self, pairs: list[Pair]) -> list[Outputs]:
        reply = post_json(self.url, _payload(self.protocol, pairs), key=self._key, seconds=self._seconds)
        try:
            return _read(self.protocol, reply, len(pairs))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(
                f"The server at {self.url} did not answer in the protocol of /{self.protocol}: {error!r:.300}"
            ) from error


def _protocol(url: str) -> Protocol:
    parts = tuple(urlsplit(url).path.rstrip("/").split("/"))
    found = next((spoken for ending, spoken in _ENDINGS.items() if parts[-len(ending) :] == ending), None)
    if found is None:
        raise InvalidInput(
            f"The scoring URL {url!r} must end in /predict or /rerank (TEI), or in /score or /v1/rerank (vLLM)."
        )
    return found


def _payload(protocol: Protocol, pairs: list[Pair]) -> dict[str, Any]:
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    payloads: dict[Protocol, dict[str, Any]] = {
        "predict": {"inputs": pairs, "truncate": True},
        "rerank": {"query": first[0], "texts": second, "truncate": True},
        "score": {"text_1": first, "text_2": second, "truncate_prompt_tokens": _WHOLE_MODEL},
        "v1/rerank": {"query": first[0], "documents": second, "truncate_prompt_tokens": _WHOLE_MODEL},
    }
    return payloads[protocol]


def _read(protocol: Protocol, reply: Any, count: int) -> list[Outputs]:
    if protocol == "predict":
        return _labelled(reply, count)
    if protocol == "rerank":
        return _indexed(reply, count, score="score")
    if protocol == "score":
        return _indexed(reply["data"], count, score="score")
    return _indexed(reply["results"], count, score="relevance_score")


def _labelled(rows: Any, count: int) -> list[Outputs]:
    if len(rows) != count:
        raise ValueError(f"{len(rows)} results for {count} pairs")
    found = [{_name(item["label"]): _probability(item["score"]) for item in row} for row in rows]
    if any(len(outputs) != len(row) or not row for outputs, row in zip(found, rows, strict=True)):
        raise ValueError("a result without labels, or with one twice")
    return found


def _indexed(items: Any, count: int, *, score: str) -> list[Outputs]:
    """Rows by the index that each says it is of, whatever their order."""
    found = {_whole(item["index"]): _probability(item[score]) for item in items}
    if len(items) != count or found.keys() != set(range(count)):
        raise ValueError(f"{len(items)} results for {count} pairs, of the indexes {sorted(found)}")
    return [{SINGLE: found[index]} for index in range(count)]


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"the label {value!r} is no name")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"the index {value!r} is no whole number")
    return value


def _probability(value: Any) -> float:
    # A comparison with NaN is false.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"the score {value!r} is no probability")
    return float(value)
