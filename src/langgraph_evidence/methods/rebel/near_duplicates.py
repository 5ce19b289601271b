"""Sub-questions that ask the same again: the check that ends Algorithm 1's recursion (section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.text import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

Features = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Maps n texts to n vectors; the paper's `features`."""


def default_features(texts: Sequence[str]) -> NDArray[np.float32]:
    """The shared encoder's sentence vectors, loaded when they are first asked for."""
    from langgraph_evidence.models import default_encoder

    return default_encoder().encode(texts)


def same_question(first: str, second: str) -> bool:
    """Whether two questions are the same words, case and punctuation aside."""
    return words(first) == words(second)


def near_duplicates(questions: Sequence[str], asked: Sequence[str], *, near: float, features: Features) -> list[bool]:
    """Which questions ask again what is asked already.

    Args:
        questions: The sub-questions of a split.
        asked: The question that was split and those above it.
        near: Cosine of the features above which two are the same.
        features: The embedding; it is not called where the words alone decide.

    Returns:
        One flag a question.
    """
    found = [any(same_question(question, other) for other in asked) for question in questions]
    open_places = [place for place, same in enumerate(found) if not same]
    if not open_places or not asked or near >= 1.0:
        return found
    vectors = np.asarray(features([*[questions[place] for place in open_places], *asked]), dtype=np.float64)
    similar = _cosines(vectors[: len(open_places)], vectors[len(open_places) :]).max(axis=1)
    for place, value in zip(open_places, similar, strict=True):
        found[place] = bool(value > near)
    return found


def _cosines(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of rows; a vector of length 0 is like nothing."""
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None, :]
    cosines: NDArray[np.float64] = np.divide(left @ right.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return cosines
