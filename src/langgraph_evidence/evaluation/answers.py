"""Answer metrics, equal to the official scorers of HotpotQA, 2WikiMultihopQA and MuSiQue, and cover-EM.

HotpotQA: `hotpot_evaluate_v1.py`. 2WikiMultihopQA: `2wikimultihop_evaluate_v1.1.py`. MuSiQue: `evaluate_v1.0.py`.
Cover-EM is the accuracy of FuRePA's section 4.1: the gold answer is contained in the predicted one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.text import normalise_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

Style = Literal["hotpotqa", "2wiki", "musique"]
"""Whose rules an answer is scored by."""

_CLOSED = frozenset({"yes", "no", "noanswer"})


class Overlap(NamedTuple):
    """Agreement of a prediction with the gold, each value in [0, 1]."""

    em: float
    f1: float
    precision: float
    recall: float


_NOTHING = Overlap(0.0, 0.0, 0.0, 0.0)


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall; 0 when both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0


def _token_overlap(predicted: str, gold: str) -> Overlap:
    predicted_tokens, gold_tokens = predicted.split(), gold.split()
    shared = sum((Counter(predicted_tokens) & Counter(gold_tokens)).values())
    if shared == 0:
        return _NOTHING
    precision, recall = shared / len(predicted_tokens), shared / len(gold_tokens)
    return Overlap(0.0, harmonic_mean(precision, recall), precision, recall)


def _score_one(predicted: str, gold: str, style: Style) -> Overlap:
    em = float(predicted == gold)
    if style == "musique":
        if not predicted or not gold:
            return Overlap(em, em, em, em)
    elif predicted != gold and (predicted in _CLOSED or gold in _CLOSED):
        return _NOTHING
    return _token_overlap(predicted, gold)._replace(em=em)


def score_answer(prediction: str, answers: Sequence[str], *, style: Style = "hotpotqa") -> Overlap:
    """Exact match, F1, precision and recall of one answer, each the best over the gold answers separately.

    Args:
        prediction: The answer that was given; empty for none.
        answers: The gold answer and its aliases.
        style: `hotpotqa` and `2wiki` give 0 when one side is yes, no or noanswer and the other differs; `musique` has
            no such rule and counts two empty answers as equal (SQuAD).

    Raises:
        InvalidInput: There is no gold answer.
    """
    if not answers:
        raise InvalidInput("An answer can be scored against one or more gold answers; none was given.")
    predicted = normalise_answer(prediction)
    scores = [_score_one(predicted, normalise_answer(gold), style) for gold in answers]
    return Overlap(*(max(values) for values in zip(*scores, strict=True)))


def cover_em(prediction: str, answers: Sequence[str], *, whole_words: bool = False) -> float:
    """1 when a normalised gold answer is contained in the normalised prediction, else 0.

    The usual form is a plain substring, so that gold "no" is found in "north"; `whole_words` asks for token boundaries.
    A gold answer that is empty when normalised covers only an empty prediction, where a plain substring test would
    call every prediction right.
    """
    edge = " " if whole_words else ""
    predicted = normalise_answer(prediction)
    padded = f"{edge}{predicted}{edge}"
    golds = [normalise_answer(gold) for gold in answers]
    return float(any(f"{edge}{gold}{edge}" in padded if gold else not predicted for gold in golds))


SupportingFact = tuple[str, int]
"""A supporting fact: the passage's title and the sentence's index, counted from 0."""


def score_facts(
    predicted: Sequence[SupportingFact], gold: Sequence[SupportingFact], *, style: Style = "hotpotqa"
) -> Overlap:
    """Agreement of two sets of supporting facts.

    Args:
        predicted: What the method named; duplicates count once.
        gold: What the data set names.
        style: `2wiki` compares titles without case. `musique` gives 1 when both are empty; the others give EM 1, F1 0.
    """
    named, wanted = _facts(predicted, style), _facts(gold, style)
    if style == "musique" and not named and not wanted:
        return Overlap(1.0, 1.0, 1.0, 1.0)
    right = sum(fact in wanted for fact in named)
    missing = sum(fact not in named for fact in wanted)
    precision = right / len(named) if named else 0.0
    recall = right / (right + missing) if right + missing else 0.0
    em = float(right == len(named) and missing == 0)
    return Overlap(em, harmonic_mean(precision, recall), precision, recall)


def _facts(facts: Sequence[SupportingFact], style: Style) -> list[SupportingFact]:
    # The official 2Wiki script lowers titles after removing duplicates, so facts that differ in case alone stay two.
    unique = dict.fromkeys((title, index) for title, index in facts)
    return [(title.lower() if style == "2wiki" else title, index) for title, index in unique]


def score_joint(*parts: Overlap) -> Overlap:
    """Joint metrics: EM, precision and recall are products over the parts, F1 comes from those.

    HotpotQA and 2WikiMultihopQA join answer and supporting facts.
    """
    em = precision = recall = 1.0
    for part in parts:
        em, precision, recall = em * part.em, precision * part.precision, recall * part.recall
    return Overlap(em, harmonic_mean(precision, recall), precision, recall)
