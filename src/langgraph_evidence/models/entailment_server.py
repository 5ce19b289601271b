"""Entailment by a server that scores pairs: Text Embeddings Inference (`/predict`) or vLLM (`/score`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.entailment_features import pack_premise
from langgraph_evidence.models.entailment_labels import read_label, read_labels
from langgraph_evidence.models.http import post_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Protocol = Literal["predict", "score"]

# The number of inputs that a TEI server takes in one request unless it was started with another.
_BATCH = 32
_SECONDS = 60.0
_PREMISE_WORDS = 330


def server_scorer(url: str, labels: Sequence[str] | None, *, seconds: float = _SECONDS) -> ServerScorer:
    """A scorer for a URL whose path ends in `/predict` (TEI) or `/score` (vLLM).

    Raises:
        InvalidInput: The URL ends in neither, or the labels have no entailment.
    """
    ending = urlsplit(url).path.rstrip("/").rsplit("/", 1)[-1]
    if ending == "predict":
        return ServerScorer(
            url, "predict", labels=read_labels(labels or ("entailment", "neutral", "contradiction")), seconds=seconds
        )
    if ending == "score":
        if labels is not None:
            raise InvalidInput("A vLLM server at /score gives one score a pair; labels= cannot be given for it.")
        return ServerScorer(url, "score", labels=("entailment", "not_entailment"), seconds=seconds)
    raise InvalidInput(f"The scoring URL {url!r} must end in /predict (TEI) or /score (vLLM).")


class ServerScorer:
    """Asks a server for the label probabilities of pairs, in batches.

    Args:
        url: Where to post.
        protocol: What is spoken there.
        labels: The label of each output in the model's order; used where the server names outputs LABEL_0, LABEL_1...
        seconds: How long a request may take.
    """

    def __init__(self, url: str, protocol: Protocol, *, labels: tuple[str, ...], seconds: float) -> None:
        self.labels = labels
        self._url, self._protocol, self._seconds = url, protocol, seconds

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Label probabilities, (pairs, labels).

        Raises:
            ModelError: The server cannot be reached, refuses, or answers something else.
        """
        packed = [(pack_premise(premise, text, max_words=_PREMISE_WORDS), text) for premise, text in pairs]
        rows: list[list[float]] = []
        for start in range(0, len(packed), _BATCH):
            rows.extend(self._batch(packed[start : start + _BATCH]))
        return np.asarray(rows, dtype=np.float32)

    def _batch(self, pairs: list[tuple[str, str]]) -> list[list[float]]:
        try:
            rows = self._predict(pairs) if self._protocol == "predict" else self._score(pairs)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(
                f"The server at {self._url} did not answer in the protocol of /{self._protocol}: {error}"
            ) from error
        if len(rows) != len(pairs):
            raise ModelError(f"The server at {self._url} gave {len(rows)} results for {len(pairs)} pairs.")
        return rows

    def _predict(self, pairs: list[tuple[str, str]]) -> list[list[float]]:
        reply = self._post({"inputs": pairs, "truncate": True})
        return [self._row({str(item["label"]): _probability(item["score"]) for item in items}) for items in reply]

    def _row(self, scores: dict[str, float]) -> list[float]:
        numbered = {f"LABEL_{place}": name for place, name in enumerate(self.labels)}
        named = {numbered.get(name) or read_label(name): score for name, score in scores.items()}
        if set(named) != set(self.labels):
            raise InvalidInput(
                f"The server at {self._url} gives the labels {sorted(scores)}; {list(self.labels)} are expected. "
                "Give labels= in the model's own order."
            )
        return [named[name] for name in self.labels]

    def _score(self, pairs: list[tuple[str, str]]) -> list[list[float]]:
        reply = self._post({"text_1": [premise for premise, _ in pairs], "text_2": [text for _, text in pairs]})
        found = {int(item["index"]): _probability(item["score"]) for item in reply["data"]}
        return [[found[place], 1 - found[place]] for place in range(len(pairs))]

    def _post(self, payload: dict[str, Any]) -> Any:
        return post_json(self._url, payload, seconds=self._seconds)


def _probability(value: Any) -> float:
    score = float(value)
    if not math.isfinite(score) or not 0 <= score <= 1:
        raise ValueError(f"the score {score} is no probability")
    return score
