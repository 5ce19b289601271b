"""Which trajectory answers (section 2.3): the paper's selections, its authors' own variants of them, and ours.

All are pure functions of the trajectories and come from one pass. p_M is the generator's probability, Y all that it
generated on a trajectory (retrieved text is not generated), Y_final the answer. A trajectory without an answer counts
nowhere. Of equal scores the first trajectory in the order of the tree wins: depth first, branches as they were chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from typing_extensions import TypedDict

from langgraph_evidence.methods.rq_rag.settings import SelectionName
from langgraph_evidence.text import normalise_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

Failure = Literal["", "unusable", "truncated", "context", "not_needed", "unknown", "lost", "cut"]
"""Why a trajectory has no answer: a reply that follows no format, one that was cut short, a prompt that the model's
context does not hold, no query that was needed, an answer that the model does not know, a call that did not go through,
a run that ended first."""

SELECTIONS: tuple[SelectionName, ...] = get_args(SelectionName)
"""All of them."""

# The largest power of e that a float holds.
_MOST = 709.0


class Trajectory(TypedDict):
    """R_j = [X, Y]: one path of the tree from the question to its end.

    `generated` are the log-probabilities of all generated tokens of Y, `final` those of Y_final from its first token
    on, `likeliest` that of the likeliest token at each of these places, and `whole` those of all tokens of the string,
    prompt and evidence included; null where the model or the caller gives none. `evidence` holds the ids of the
    passages of each step, `support` how far they support the answer.
    """

    id: str
    actions: list[str]
    queries: list[str]
    evidence: list[list[str]]
    answer: str
    generated: list[float] | None
    final: list[float] | None
    likeliest: list[float] | None
    whole: list[float] | None
    support: float | None
    failure: Failure
    why: str


_Scores = list[tuple[float, Trajectory]]
_Score = Callable[[Sequence[Trajectory]], _Scores]


class Selection(TypedDict):
    """What one way to select says: the answer, its trajectory and score, or why it can say nothing."""

    answer: str
    trajectory: str
    score: float | None
    unavailable: str


def perplexity(logprobs: Sequence[float]) -> float:
    """PPL(R) = exp(-1/L sum over t of log p_M(Y_t | X, Y_<t)), L the length of what was generated."""
    return math.exp(min(-sum(logprobs) / len(logprobs), _MOST))


def confidence(final: Sequence[float]) -> float:
    """Conf(R) = sum over t from l of log p_M(Y_t | X, Z_1 ... Z_i, Y_<t), l the first token of Y_final."""
    return float(sum(final))


def authors_confidence(likeliest: Sequence[float]) -> float:
    """The authors' code: the mean probability of the likeliest token at each place of Y_final, emitted or not."""
    return sum(map(math.exp, likeliest)) / len(likeliest)


def select_all(trajectories: Sequence[Trajectory]) -> dict[SelectionName, Selection]:
    """Every way to select, side by side, in one pass over the trajectories in the order of the tree."""
    counted = [t for t in trajectories if t["answer"] and not t["failure"]]
    return {name: _selected(counted, _WAYS[name]) for name in SELECTIONS}


def chosen_of(selections: Mapping[SelectionName, Selection], wanted: SelectionName) -> SelectionName:
    """The selection that decides: the wanted one, or the vote under its own name where it can say nothing."""
    return wanted if not selections[wanted]["unavailable"] else "vote"


def same_answer(answer: str) -> str:
    """The form by which two answers are one; one that consists of articles and marks alone is its own."""
    return normalise_answer(answer) or answer.strip()


def _selected(counted: Sequence[Trajectory], way: _Way) -> Selection:
    if not counted:
        return Selection(answer="", trajectory="", score=None, unavailable="No trajectory has an answer.")
    scores = way.score(counted)
    if not scores:
        return Selection(answer="", trajectory="", score=None, unavailable=way.needs)
    score, winner = (min if way.least else max)(scores, key=_first)
    return Selection(answer=winner["answer"], trajectory=winner["id"], score=score, unavailable="")


def _first(row: tuple[float, Trajectory]) -> float:
    return row[0]


def _perplexities(counted: Sequence[Trajectory]) -> _Scores:
    return [(perplexity(t["generated"]), t) for t in counted if t["generated"]]


def _whole_perplexities(counted: Sequence[Trajectory]) -> _Scores:
    return [(perplexity(t["whole"]), t) for t in counted if t["whole"]]


def _confidences(counted: Sequence[Trajectory]) -> _Scores:
    return [(confidence(t["final"]), t) for t in counted if t["final"]]


def _probabilities(counted: Sequence[Trajectory]) -> _Scores:
    return [(math.exp(score), t) for score, t in _confidences(counted)]


def _authors_confidences(counted: Sequence[Trajectory]) -> _Scores:
    return [(authors_confidence(t["likeliest"]), t) for t in counted if t["likeliest"]]


def _supports(counted: Sequence[Trajectory]) -> _Scores:
    return [(t["support"], t) for t in counted if t["support"] is not None]


def _ones(counted: Sequence[Trajectory]) -> _Scores:
    return [(1.0, t) for t in counted]


def _summed(scored: _Score, same: Callable[[str], str]) -> _Score:
    """The sum of the scores of equal answers, beside the best trajectory of each answer."""

    def grouped(counted: Sequence[Trajectory]) -> _Scores:
        groups: dict[str, _Scores] = {}
        for row in scored(counted):
            groups.setdefault(same(row[1]["answer"]), []).append(row)
        return [(sum(map(_first, group)), max(group, key=_first)[1]) for group in groups.values()]

    return grouped


class _Way(NamedTuple):
    score: _Score
    needs: str
    least: bool = False


_LOGPROBS = "The model gave no log-probabilities."
_WAYS: dict[SelectionName, _Way] = {
    "ppl": _Way(_perplexities, _LOGPROBS, least=True),
    "confidence": _Way(_confidences, _LOGPROBS),
    # Summed as probabilities: a sum of logarithms falls with every trajectory that agrees, and elects the answer that
    # fewest reach. So the formula cannot be meant as it stands; as it stands it is the next one.
    "ensemble": _Way(_summed(_probabilities, same_answer), _LOGPROBS),
    "ensemble_of_logs": _Way(_summed(_confidences, same_answer), _LOGPROBS),
    "authors_ppl": _Way(_whole_perplexities, "Nothing was given that scores whole texts (`likelihood`).", least=True),
    "authors_confidence": _Way(_authors_confidences, _LOGPROBS),
    "authors_ensemble": _Way(_summed(_authors_confidences, str.strip), _LOGPROBS),
    "support": _Way(_supports, "No answer was checked against its evidence."),
    "vote": _Way(_summed(_ones, same_answer), ""),
}
