"""ALCE's citation recall and precision, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.evaluation.trust.alce import (
    CitedSentence,
    LexicalJudge,
    ModelJudge,
    citation_scores,
    cited_sentences,
)


class Said:
    """Entails what it is told; every pair is asked once."""

    name = "said"

    def __init__(self, *premises: Any) -> None:
        self.premises = set(premises)
        self.asked: list[Any] = []

    def entails(self, pairs: Any) -> Any:
        self.asked += pairs
        return [premise in self.premises for premise, _ in pairs]


def scores(judge: Any, *answers: Any) -> Any:
    found = citation_scores(answers, judge)
    return found.recall, found.precision


def test_two_citations_that_only_together_entail_are_both_precise() -> None:
    assert scores(Said("a\nb"), [CitedSentence("s", ("a", "b"))]) == ((1.0,), (1.0,))


def test_a_citation_that_may_go_is_not_precise() -> None:
    # a alone entails; b does not, and without b the rest still does.
    assert scores(Said("a\nb", "a"), [CitedSentence("s", ("a", "b"))]) == ((1.0,), (0.5,))


def test_two_that_each_suffice_are_both_precise() -> None:
    assert scores(Said("a\nb", "a", "b"), [CitedSentence("s", ("a", "b"))]) == ((1.0,), (1.0,))


def test_of_three_the_one_that_adds_nothing_is_not_precise() -> None:
    # a and b are needed together; c may go.
    judge = Said("a\nb\nc", "a\nb")
    assert scores(judge, [CitedSentence("s", ("a", "b", "c"))]) == ((1.0,), (pytest.approx(2 / 3),))


def test_nothing_counts_where_the_citations_together_do_not_entail() -> None:
    # ALCE asks first whether all together entail; that a alone would does not help.
    assert scores(Said("a"), [CitedSentence("s", ("a", "b"))]) == ((0.0,), (0.0,))


def test_a_sentence_without_citations_costs_recall_and_not_precision() -> None:
    assert scores(Said("a"), [CitedSentence("s", ("a",)), CitedSentence("t", ())]) == ((0.5,), (1.0,))


def test_precision_is_over_the_citations_of_an_answer_and_then_over_answers() -> None:
    # First answer: 1 of 1 and 0 of 2 citations; second: none.
    first = [CitedSentence("s", ("a",)), CitedSentence("t", ("b", "c"))]
    assert scores(Said("a"), first, [CitedSentence("u", ())]) == ((0.5, 0.0), (pytest.approx(1 / 3), 0.0))


def test_an_empty_answer_is_left_out() -> None:
    found = citation_scores([(), [CitedSentence("s", ("a",))]], Said("a"))
    assert (found.recall, found.citations) == ((1.0,), 1)


def test_no_pair_is_judged_twice() -> None:
    judge = Said("a\nb")
    scores(judge, [CitedSentence("s", ("a", "b"))] * 3)
    assert len(judge.asked) == len(set(judge.asked)) == 3


def citation(quote: Any, start: Any = 0, end: Any = 100) -> Any:
    return {
        "start": start,
        "end": end,
        "title": "T",
        "quote": quote,
        "passage_id": "p",
        "quote_start": 0,
        "quote_end": 1,
    }


def test_a_short_answer_is_read_behind_its_question() -> None:
    (sentence,) = cited_sentences("Where?", "Paris", [citation("q")], short=True)
    assert sentence == ("Where? Paris", ("Title: T\nq",))
    assert cited_sentences("Where?", " ", [], short=True) == ()


def test_a_sentence_has_the_citations_of_its_own_span_three_of_them_and_none_twice() -> None:
    answer = "It is red. It is big."
    cited = [citation(quote, 0, 10) for quote in "abacd"] + [citation("e", 11, 21)]
    first, second = cited_sentences("What?", answer, cited, short=False)
    assert (first.statement, [p[-1] for p in first.premises]) == ("It is red.", ["a", "b", "c"])
    assert (second.statement, [p[-1] for p in second.premises]) == ("It is big.", ["e"])


def test_the_lexical_judge_wants_most_words_and_every_number() -> None:
    judge = LexicalJudge()
    premise = "Title: Ann Lee\nAnn Lee founded the red club in 1901."
    said = [
        "Ann Lee founded the club in 1901.",
        "Ann Lee founded the club in 1902.",
        "Bo Ray sold some horses.",
        "of the",
    ]
    assert judge.entails([(premise, statement) for statement in said]) == [True, False, False, False]


def test_a_model_judges_at_its_own_threshold() -> None:
    class Model:
        threshold = 0.4

        def probabilities(self, pairs: Any) -> Any:
            return [0.3, 0.4][: len(pairs)]

    model: Any = Model()
    judge = ModelJudge(model, "m")
    assert judge.entails([("a", "b"), ("c", "d")]) == [False, True]
    assert judge.entails([]) == []
