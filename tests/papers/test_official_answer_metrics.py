"""Cases worked by hand from the rules of the official scorers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.answers import (
    Overlap,
    Style,
    cover_em,
    score_answer,
    score_facts,
    score_joint,
)
from langgraph_evidence.text import normalise_answer

words = st.text(alphabet="ab the.no yes,", max_size=20)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Rock-and-Roll!", "rockandroll"),
        ("a an the", ""),
        ("An apple, a day", "apple day"),
        ("theatre", "theatre"),
        ("U.S.", "us"),
        ("L\u2019Aquila", "l\u2019aquila"),  # only ASCII punctuation is removed
        ("x\u00a0\tthe y", "x y"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalise_answer(text) == normal


def test_f1_counts_repeated_words_once_per_occurrence() -> None:
    # shared = min counts: new 1, york 1 -> 2; precision 2/3, recall 2/4, f1 = 4/7
    score = score_answer("New York York", ["New York City New"])
    assert score == pytest.approx((0.0, 4 / 7, 2 / 3, 2 / 4))


@pytest.mark.parametrize(
    ("prediction", "gold", "style", "f1"),
    [
        ("yes it was", "yes", "hotpotqa", 0.0),
        ("yes it was", "yes", "musique", 0.5),
        ("no", "no one", "2wiki", 0.0),
        ("no", "no one", "musique", 2 / 3),
        ("noanswer", "noanswer", "hotpotqa", 1.0),
        ("Yes.", "yes", "hotpotqa", 1.0),
        ("the", "an", "musique", 1.0),
        ("the", "an", "hotpotqa", 0.0),
        ("", "x", "musique", 0.0),
    ],
)
def test_yes_no_rule_and_empty_answers(prediction: str, gold: str, style: Style, f1: float) -> None:
    assert score_answer(prediction, [gold], style=style).f1 == pytest.approx(f1)


def test_two_empty_answers_are_an_exact_match_in_hotpotqa_with_f1_zero() -> None:
    assert score_answer("the", ["a"]) == (1.0, 0.0, 0.0, 0.0)


def test_each_metric_takes_its_own_best_alias() -> None:
    # against "red": precision 1/2, recall 1; against "red blue green": precision 1, recall 2/3
    score = score_answer("red blue", ["red", "red blue green"], style="2wiki")
    assert score == pytest.approx((0.0, 4 / 5, 1.0, 1.0))


def test_no_gold_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="gold"):
        score_answer("x", [])


@given(words, words)
def test_f1_is_symmetric_and_bounded(left: str, right: str) -> None:
    styles: tuple[Style, ...] = ("hotpotqa", "musique")
    for style in styles:
        one, two = score_answer(left, [right], style=style), score_answer(right, [left], style=style)
        assert one.f1 == pytest.approx(two.f1)
        assert (one.precision, one.recall) == pytest.approx((two.recall, two.precision))
        assert all(0 <= value <= 1 for value in one)
        assert one.em <= cover_em(left, [right])
        assert cover_em(left, [right], whole_words=True) <= cover_em(left, [right])


@given(words, st.lists(words, min_size=1, max_size=3), words)
def test_an_alias_never_lowers_a_score(prediction: str, golds: list[str], alias: str) -> None:
    less, more = score_answer(prediction, golds), score_answer(prediction, [*golds, alias])
    assert all(b >= a for a, b in zip(less, more, strict=True))


def test_cover_em_is_a_substring_and_whole_words_are_not() -> None:
    assert cover_em("He lived in the North.", ["no"]) == 1.0
    assert cover_em("He lived in the North.", ["no"], whole_words=True) == 0.0
    assert cover_em("No, he did not", ["no"], whole_words=True) == 1.0
    assert cover_em("in 1994, Paris", ["London", "The Paris"]) == 1.0
    assert cover_em("Paris", ["The"]) == 0.0


def test_facts_by_hand() -> None:
    # 2 named of which 1 right, 3 wanted: precision 1/2, recall 1/3, f1 2/5
    score = score_facts([("A", 0), ("B", 1), ("A", 0)], [("A", 0), ("A", 1), ("C", 0)])
    assert score == pytest.approx((0.0, 2 / 5, 1 / 2, 1 / 3))
    assert score_facts([("A", 0)], [("A", 0)]) == (1.0, 1.0, 1.0, 1.0)


def test_titles_ignore_case_only_in_2wiki() -> None:
    assert score_facts([("a", 0)], [("A", 0)], style="2wiki").em == 1.0
    assert score_facts([("a", 0)], [("A", 0)]).em == 0.0


def test_no_facts_on_either_side() -> None:
    assert score_facts([], []) == (1.0, 0.0, 0.0, 0.0)
    assert score_facts([], [], style="musique") == (1.0, 1.0, 1.0, 1.0)


def test_joint_multiplies_precision_and_recall() -> None:
    # precision 1 * 1/2, recall 1/2 * 1 -> f1 1/2, not the product of the two f1 (4/9)
    joint = score_joint(Overlap(1.0, 2 / 3, 1.0, 0.5), Overlap(0.0, 2 / 3, 0.5, 1.0))
    assert joint == pytest.approx((0.0, 0.5, 0.5, 0.5))
    assert score_joint(*[Overlap(1.0, 1.0, 1.0, 1.0)] * 3).em == 1.0
