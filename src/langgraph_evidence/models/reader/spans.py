"""From the reader's logits to answers: the best spans of every window, ranked together."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.base import softmax
from langgraph_evidence.text import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

LONGEST = 30
"""Tokens of the longest answer span."""
_STARTS = 20


@dataclass(frozen=True)
class WindowScores:
    """What a model says of one window.

    Args:
        start: Logits, a token each; very low outside the passages.
        end: Likewise.
        kind: Probabilities of span, yes, no, none.
        passages: The passage of each token, -1 for none.
        offsets: Its characters there.
    """

    start: NDArray[np.float32]
    end: NDArray[np.float32]
    kind: NDArray[np.float32]
    passages: Sequence[int]
    offsets: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Span:
    """A place in the evidence, and how likely it is to be the answer, in [0, 1]."""

    passage: int
    start: int
    end: int
    score: float


def spans_of(window: WindowScores) -> list[Span]:
    """The likely spans of a window: from likely starts, each with all its ends, within one passage."""
    passages = np.asarray(window.passages)
    inside = np.flatnonzero(passages >= 0)
    start, end = softmax(window.start), softmax(window.end)
    found = []
    for first in inside[np.argsort(-start[inside], kind="stable")[:_STARTS]]:
        for last in range(first, min(first + LONGEST, len(end))):
            if passages[last] != passages[first]:
                break
            score = float(start[first] * end[last] * (1.0 - window.kind[3]))
            found.append(Span(int(passages[first]), window.offsets[first][0], window.offsets[last][1], score))
    return found


def best_spans(scored: Iterable[WindowScores], passages: Sequence[str], count: int) -> list[Span]:
    """The best spans of all windows, best first; none past a sentence's end; of those with the same words the best.

    Start and end are scored apart, so that the likeliest pair may start at one answer and end at another. Of 3,334
    answers of folds 0-2 eight go past what is taken for a sentence's end.
    """
    spans = sorted((span for window in scored for span in spans_of(window)), key=lambda s: -s.score)
    starts = [[sentence.start for sentence in split_sentences(passage)] for passage in passages]
    best: dict[str, Span] = {}
    for span in spans:
        words = passages[span.passage][span.start : span.end].strip().lower()
        begun = starts[span.passage]
        if words and bisect_right(begun, span.start) == bisect_right(begun, span.end - 1):
            best.setdefault(words, span)
        if len(best) == count:
            break
    return list(best.values())


def answerable(scored: Sequence[WindowScores]) -> float:
    """How likely the evidence answers the question: as likely as the window that says so most."""
    return float(max(1.0 - window.kind[3] for window in scored))


def yes_share(scored: Sequence[WindowScores]) -> float:
    """P(yes) against P(no), over all windows."""
    yes, no = (float(sum(window.kind[place] for window in scored)) for place in (1, 2))
    return yes / (yes + no) if yes + no > 0 else 0.5
