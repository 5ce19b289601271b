"""Risk against coverage: how well a score tells answers that may be given from those that should be declined.

A selective answerer gives the answers whose score reaches a threshold. Coverage is the share that it gives, risk the
share of wrong ones among them; the area under that curve (Geifman, Uziel and El-Yaniv 2019, arXiv 1805.08206) is the
mean risk over all coverages, the lower the better. An answer to a question that its passages do not answer is wrong,
whatever it says.

A threshold is chosen on one half of the groups and reported on the other, both ways round, so that nothing is chosen
on what is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.trust.sources import chance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COST = 0.1
"""The share of the right answers that declining may cost."""
DECLINED = 0.7
"""The share of the unanswerable that is to be declined."""


class Guess(NamedTuple):
    """A best guess and what is known of it.

    Args:
        group: What is kept together when the guesses are halved: the question, or its article.
        answerable: Whether the passages answer the question.
        right: Whether the guess is right; never where it is not answerable.
        score: What is thresholded, higher for surer.
    """

    group: str
    answerable: bool
    right: bool
    score: float


def risk_at(scores: Sequence[float], right: Sequence[bool]) -> Floats:
    """Risk when the k surest answers are given, for k = 1 to n; equal scores stand in every order at once.

    Raises:
        InvalidInput: There is no answer, or not one score for each.
    """
    if not right or len(scores) != len(right):
        raise InvalidInput(f"{len(scores)} scores for {len(right)} answers; give one score each, and an answer at all.")
    values, wrong = np.asarray(scores, dtype=np.float64), ~np.asarray(right, dtype=bool)
    order = np.argsort(-values, kind="stable")
    # Within equal scores every place has their mean: the expectation over their orders.
    _, inverse = np.unique(-values[order], return_inverse=True)
    means = np.bincount(inverse, weights=wrong[order]) / np.bincount(inverse)
    risk: Floats = np.cumsum(means[inverse]) / np.arange(1, len(values) + 1)
    return risk


def area_under_risk(scores: Sequence[float], right: Sequence[bool]) -> float:
    """The mean risk over all coverages; of a score by chance it is the share of wrong answers."""
    return float(risk_at(scores, right).mean())


def best_area(right: Sequence[bool]) -> float:
    """The least area that any score could have: all right answers first."""
    return area_under_risk([float(value) for value in right], right)


def threshold_at_cost(guesses: Sequence[Guess], cost: float = COST) -> float:
    """The highest threshold that declines no more than this share of the right answers.

    Raises:
        InvalidInput: No guess is right.
    """
    scores = np.sort([guess.score for guess in guesses if guess.right])
    if not len(scores):
        raise InvalidInput("No answer is right, so no threshold can be chosen by what it costs; give more questions.")
    return float(scores[int(cost * len(scores))])


def threshold_for_declined(guesses: Sequence[Guess], share: float = DECLINED) -> float:
    """The lowest threshold that declines at least this share of the unanswerable.

    Raises:
        InvalidInput: Every question is answerable.
    """
    scores = np.sort([guess.score for guess in guesses if not guess.answerable])
    if not len(scores):
        raise InvalidInput("Every question is answerable, so no threshold can be chosen; give unanswerable ones.")
    return float(np.nextafter(scores[min(len(scores), int(np.ceil(share * len(scores)))) - 1], np.inf))


class Declining(NamedTuple):
    """What a threshold declines.

    Args:
        declined: Share of the unanswerable.
        cost: Share of the right answers.
        given: Share of all answers that is given.
        risk: Share of wrong ones among those.
        thresholds: Those used, one a half.
    """

    declined: float
    cost: float
    given: float
    risk: float
    thresholds: tuple[float, ...]


def declining(guesses: Sequence[Guess], choose: Callable[[Sequence[Guess]], float]) -> Declining:
    """Declines each half of the groups by the threshold that is chosen on the other.

    Args:
        guesses: All of them.
        choose: `threshold_at_cost` or `threshold_for_declined`.

    Raises:
        InvalidInput: A half leaves nothing to choose by.
    """
    halves: tuple[list[Guess], list[Guess]] = ([], [])
    for guess in guesses:
        halves[chance("half", guess.group) < 0.5].append(guess)
    thresholds = tuple(choose(half) for half in reversed(halves))
    decided = [(g, g.score >= edge) for half, edge in zip(halves, thresholds, strict=True) for g in half]
    return declined_by(decided, thresholds)


def declined_by(decided: Sequence[tuple[Guess, bool]], thresholds: tuple[float, ...]) -> Declining:
    """What decisions (a guess, and whether it is given) decline; shares of nothing are not-a-number."""
    given = [guess for guess, is_given in decided if is_given]
    return Declining(
        declined=_share([not is_given for guess, is_given in decided if not guess.answerable]),
        cost=_share([not is_given for guess, is_given in decided if guess.right]),
        given=len(given) / max(1, len(decided)),
        risk=_share([not guess.right for guess in given]),
        thresholds=thresholds,
    )


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")
