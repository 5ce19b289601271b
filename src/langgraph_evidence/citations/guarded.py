"""What a verifier asks its models for, and what it takes from them: so many finite numbers, or a failure.

Not-a-number would read as "not supported", which is a finding; it is a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from langgraph_evidence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LABELS = 3
_ENTAILMENT, _RANKER = "The entailment model", "The sentence ranker"


class EntailmentModel(Protocol):
    """Tells whether premises entail hypotheses: `models.entailment.Entailment`, or anything like it."""

    threshold: float

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """P(entailed) of each (premise, hypothesis), shape (pairs,)."""
        ...

    def labels3(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """P(entailment, neutral, contradiction), shape (pairs, 3); InvalidInput where it cannot tell."""
        ...


class Ranker(Protocol):
    """Scores sentences for a question or claim: `models.sentence_ranker.SentenceRanker`, or anything like it."""

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        """How much each sentence matters to the query; higher is better."""
        ...


def entailed(model: EntailmentModel, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """P(entailed) of each pair.

    Raises:
        ModelError: The model gave other than one probability a pair.
    """
    return list(_probabilities(model.probabilities(pairs), (len(pairs),), _ENTAILMENT)) if pairs else []


def contradicted(model: EntailmentModel, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """P(contradiction) of each pair.

    Raises:
        ModelError: The model gave other than three probabilities a pair.
        InvalidInput: It has two labels.
    """
    return list(_probabilities(model.labels3(pairs), (len(pairs), _LABELS), _ENTAILMENT)[:, 2]) if pairs else []


def ranked_scores(model: Ranker, query: str, sentences: Sequence[str]) -> list[float]:
    """How much each sentence matters to the query.

    Raises:
        ModelError: The ranker gave other than one finite number a sentence.
    """
    return list(_numbers(model.score(query, sentences), (len(sentences),), _RANKER)) if sentences else []


def probability(value: float, *, of: str) -> float:
    """One probability.

    Raises:
        ModelError: It is none.
    """
    return float(_probabilities([value], (1,), of)[0])


def _probabilities(values: object, shape: tuple[int, ...], of: str) -> NDArray[np.float64]:
    found = _numbers(values, shape, of)
    outside = found[(found < 0) | (found > 1)]
    if outside.size:
        raise ModelError(f"{of} gave {outside.flat[0]} where a probability from 0 to 1 is due.")
    return found


def _numbers(values: object, shape: tuple[int, ...], of: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{of} gave no numbers: {error}") from error
    if found.shape != shape:
        raise ModelError(f"{of} gave numbers of the shape {found.shape}; {shape} is due, a row for each text.")
    if not np.isfinite(found).all():
        raise ModelError(f"{of} gave {found[~np.isfinite(found)].flat[0]} where a finite number is due.")
    return found
