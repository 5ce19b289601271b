"""From logits to spans, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.reader.spans import LONGEST, WindowScores, answerable, best_spans, spans_of, yes_share

# Two passages of two tokens, "aa bb" and "cc dd", after one token of the question.
PASSAGES = ("aa bb", "cc dd")
OWNERS = [-1, 0, 0, -1, 1, 1]
OFFSETS = [(0, 0), (0, 2), (3, 5), (0, 0), (0, 2), (3, 5)]


def scores(
    start: list[float], end: list[float], *, none: float = 0.0, yes: float = 0.0, no: float = 0.0
) -> WindowScores:
    kind = np.asarray([1 - none - yes - no, yes, no, none], dtype=np.float32)
    with np.errstate(divide="ignore"):
        logits = [np.log(np.asarray(values, dtype=np.float32) + 1e-9) for values in (start, end)]
    return WindowScores(logits[0], logits[1], kind, OWNERS, OFFSETS)


def test_the_best_span_has_the_product_of_its_ends() -> None:
    window = scores([0, 0.1, 0.2, 0, 0.7, 0], [0, 0, 0.4, 0, 0.1, 0.5], none=0.5)
    best = best_spans([window], PASSAGES, 1)[0]
    assert (best.passage, best.start, best.end) == (1, 0, 5)
    assert best.score == pytest.approx(0.7 * 0.5 * 0.5, abs=1e-5)


def test_no_span_crosses_passages_or_touches_the_question() -> None:
    window = scores([0.5, 0, 0.5, 0, 0, 0], [0, 0, 0, 0, 0, 1.0])
    spans = {(span.passage, span.start, span.end) for span in spans_of(window)}
    assert spans == {(0, 0, 2), (0, 0, 5), (0, 3, 5), (1, 0, 2), (1, 0, 5), (1, 3, 5)}


def test_a_span_of_the_window_that_answers_wins() -> None:
    unsure = scores([0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], none=0.9)
    sure = scores([0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 0], none=0.1)
    assert [span.passage for span in best_spans([unsure, sure], PASSAGES, 2)] == [1, 0]
    assert answerable([unsure, sure]) == pytest.approx(0.9)


def test_the_same_words_are_one_candidate() -> None:
    window = WindowScores(
        np.zeros(3, dtype=np.float32), np.zeros(3, dtype=np.float32), np.asarray([1, 0, 0, 0], dtype=np.float32),
        [-1, 0, 1], [(0, 0), (0, 5), (0, 5)],
    )  # fmt: skip
    assert len(best_spans([window], ("Paris", "paris"), 5)) == 1


def test_a_span_ends_with_its_sentence() -> None:
    text = "He saw Rome. Then Paris came."
    words = [(0, 2), (3, 6), (7, 11), (13, 17), (18, 23), (24, 28)]
    start, end = np.full(6, -9.0, dtype=np.float32), np.full(6, -9.0, dtype=np.float32)
    start[2], end[4], end[2] = 5.0, 5.0, 3.0
    window = WindowScores(start, end, np.asarray([1, 0, 0, 0], dtype=np.float32), [0] * 6, words)
    best = best_spans([window], (text,), 1)[0]
    assert text[best.start : best.end] == "Rome"


def test_yes_against_no_over_all_windows() -> None:
    none = [0.0] * 6
    assert yes_share([scores(none, none, yes=0.2, no=0.1), scores(none, none, yes=0.4, no=0.1)]) == pytest.approx(0.75)
    assert yes_share([scores(none, none)]) == 0.5


def test_a_window_without_passages_has_no_span() -> None:
    flat, kind = np.zeros(2, dtype=np.float32), np.full(4, 0.25, dtype=np.float32)
    empty = WindowScores(flat, flat, kind, [-1, -1], [(0, 0)] * 2)
    assert spans_of(empty) == []


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=60))
def test_spans_are_short_and_scores_are_probabilities(logits: list[float]) -> None:
    values = np.asarray(logits, dtype=np.float32)
    offsets = [(place, place + 1) for place in range(len(logits))]
    kind = np.asarray([0.25] * 4, dtype=np.float32)
    for span in spans_of(WindowScores(values, values, kind, [0] * len(logits), offsets)):
        assert 0 <= span.score <= 1
        assert 0 < span.end - span.start <= LONGEST
