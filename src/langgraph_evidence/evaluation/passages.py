"""How much of the gold evidence a run found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.evaluation.answers import harmonic_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


class PassageScores(NamedTuple):
    """Recall and precision of the gold passages, their F1, and whether every one was found (1 or 0)."""

    recall: float
    precision: float
    f1: float
    all_found: float


def score_passages(found: Sequence[str], gold: Sequence[str]) -> PassageScores:
    """Compares the passages of a run's evidence with the gold ones, both by id (or both by title).

    Args:
        found: Ids of the evidence; several sentences of one passage count once.
        gold: Ids of the gold passages, at least one.

    Returns:
        The scores; precision is 0 when nothing was found.
    """
    named, wanted = set(found), set(gold)
    right = len(named & wanted)
    recall = right / len(wanted) if wanted else 0.0
    precision = right / len(named) if named else 0.0
    return PassageScores(recall, precision, harmonic_mean(precision, recall), float(bool(wanted) and wanted <= named))
