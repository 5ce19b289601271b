"""The names that entailment models give their outputs, read as the ones this package uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {
    "entailment": ("entailment", "entail", "entails", "entailed", "support", "supports", "supported", "yes"),
    "neutral": ("neutral", "unknown", "not enough info", "not enough information", "nei"),
    "contradiction": ("contradiction", "contradict", "contradicts", "refute", "refutes", "refuted"),
    "not_entailment": ("not entailment", "not entailed", "not supported", "no entailment", "no"),
}
"""Each label and the spellings it is known by, apart from case and punctuation."""

_BY_SPELLING = {spelling: name for name, spellings in NAMES.items() for spelling in spellings}


def read_label(name: str) -> str:
    """The label a spelling stands for.

    Raises:
        InvalidInput: It is none of the known ones.
    """
    spelling = re.sub(r"[\W_]+", " ", name).strip().lower()
    if spelling not in _BY_SPELLING:
        raise InvalidInput(
            f"The label {name!r} is none of {', '.join(NAMES)}. Give labels= with one of these for each output, in the "
            "model's own order."
        )
    return _BY_SPELLING[spelling]


def read_labels(names: Sequence[str]) -> tuple[str, ...]:
    """The labels of a model's outputs, in order.

    Raises:
        InvalidInput: A name is unknown or comes twice, or none is entailment.
    """
    labels = tuple(read_label(name) for name in names)
    if "entailment" not in labels or len(set(labels)) < len(labels):
        raise InvalidInput(f"The labels {tuple(names)} must name entailment once and no label twice. Give labels=.")
    return labels
