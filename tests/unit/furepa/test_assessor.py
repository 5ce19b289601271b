"""FuRePA's formulas, with values worked out by hand, and the paper's own case studies (appendix B)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.methods.furepa import FurepaSettings, assessor
from langgraph_evidence.methods.furepa.state import Plan

# Table 4, iteration 0, and Table 6, iteration 1: the candidate queries as printed.
MARAJ = [
    "the television show Onika Tanya Maraj is a judge on",
    "Onika Tanya Maraj to find out on which television show she is a judge",
    "Onika Tanya Maraj's television show",
    "Onika Tanya Maraj television judge",
]
STEWART = [
    "Where did George Stewart, 9th Seigneur d'Aubigny graduate from?",
    "George Stewart's graduation information",
    "George Stewart's alma mater or where George Stewart graduated from.",
    "the graduation details of George Stewart, 9th Seigneur d'Aubigny.",
    "Where did Charles Stewart, 3rd Duke of Richmond's father graduate from?",
]


def plan(number: int, kind: Any, text: str = "x") -> Plan:
    return Plan(id=f"1.{number}", iteration=1, kind=kind, analysis="", text=text)


def plans(answers: int, queries: int, unusable: int = 0) -> list[Plan]:
    kinds = ["answer"] * answers + ["search"] * queries + ["unusable"] * unusable
    return [plan(number, kind) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("iteration", "answers", "queries", "unusable", "decision"),
    [
        (1, 3, 2, 0, "answer"),  # 3/5 = 0.6 reaches theta
        (1, 2, 3, 0, "search"),
        (0, 5, 0, 0, "nothing"),  # nothing can be answered before anything was found
        (1, 3, 0, 2, "answer"),  # what is no plan does not vote
        (1, 0, 0, 5, "nothing"),
        (1, 0, 1, 4, "search"),
    ],
)
def test_decide_is_equation_5(iteration: Any, answers: Any, queries: Any, unusable: Any, decision: Any) -> None:
    chosen = assessor.decide(iteration, plans(answers, queries, unusable), threshold=0.6)
    assert (chosen[0]["kind"] if chosen else "nothing") == decision
    assert len(chosen) == {"answer": answers, "search": queries, "nothing": 0}[decision]


def test_a_threshold_of_zero_still_needs_an_answer() -> None:
    assert [item["kind"] for item in assessor.decide(1, plans(0, 2), threshold=0.0)] == ["search", "search"]


def test_majority_counts_normalised_answers_and_breaks_ties_by_order() -> None:
    votes = [plan(0, "answer", "Paris"), plan(1, "answer", "the Lyon."), plan(2, "answer", "Lyon")]
    assert assessor.majority_answer(votes)["id"] == "1.1"
    assert assessor.majority_answer(votes[:2])["id"] == "1.0"


def test_distance_is_euclidean_on_word_counts() -> None:
    a, b = assessor.bag_of_words("the cat, the dog"), assessor.bag_of_words("The cat sat")
    assert a == Counter({"the": 2, "cat": 1, "dog": 1})
    assert assessor.distance(a, b) == pytest.approx(math.sqrt(1 + 1 + 1))  # the, dog, sat
    assert assessor.distance(a, a) == 0.0


def test_the_papers_case_studies_cluster_as_counted_by_hand() -> None:
    features = [assessor.bag_of_words(query) for query in MARAJ]
    assert assessor.dbscan(features, eps=2, min_cluster=5) == [-1] * 4  # scikit-learn's default drops every query
    # Only the third and fourth differ in four words or fewer ("show" and "judge"); the first is 2 from the fourth
    # ("the", "show", "is", "on"), so it joins them.
    assert assessor.dbscan(features, eps=2, min_cluster=1) == [0, 1, 0, 0]
    features = [assessor.bag_of_words(query) for query in STEWART]
    assert len(set(assessor.dbscan(features, eps=2, min_cluster=1))) == 5


words = st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=6).map(" ".join)


@given(st.lists(words, max_size=9), st.floats(0, 4), st.integers(1, 4))
def test_dbscan_agrees_with_scikit_learn(queries: Any, eps: Any, min_cluster: Any) -> None:
    sklearn = pytest.importorskip("sklearn.cluster")
    points = [assessor.bag_of_words(query) for query in queries]
    ours = assessor.dbscan(points, eps=eps, min_cluster=min_cluster)
    if not points:
        assert ours == []
        return
    vocabulary = sorted({word for point in points for word in point}) or ["none"]
    matrix = [[float(point[word]) for word in vocabulary] for point in points]
    theirs = sklearn.DBSCAN(eps=max(eps, 1e-9), min_samples=min_cluster).fit_predict(matrix)
    assert ours == [int(label) for label in theirs]


def test_filter_drops_what_was_asked_and_keeps_the_central_query_of_the_rest() -> None:
    candidates = [
        "who directed the film Titanic",
        "who directed the movie Titanic",
        "who directed that film Titanic please",
        "population of the capital of France in the year 1999",
    ]
    kept = assessor.filter_queries(
        candidates, ["population of the capital of France in the year 2000"], eps=2, min_cluster=1
    )
    # The first is 1.41 from the second and 1.73 from the third, which are 2.24 apart: it is the medoid.
    assert kept == [0]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Lothair II mother", "Lothair II father", False),  # 2 of 6 words differ
        ("who directed the film Titanic", "who directed the movie Titanic", True),  # 2 of 10
        ("Rufus Gillmore", "Rufus Gillmore born", True),  # 1 of 5
        ("Essanay Company", "Haydon", False),  # within eps = 2, though nothing is shared
    ],
)
def test_two_short_queries_are_the_same_only_when_most_words_are(a: str, b: str, same: bool) -> None:
    bags = assessor.bag_of_words(a), assessor.bag_of_words(b)
    assert assessor.distance(*bags) <= 2
    assert assessor.near(*bags, eps=2, differing=0.25) is same
    assert assessor.near(*bags, eps=2, differing=1.0)
    assert assessor.filter_queries([a], [b], eps=2, min_cluster=1, differing=0.25) == ([] if same else [0])


def test_a_long_query_with_a_new_name_is_new_and_another_order_of_its_words_is_not() -> None:
    executed = "where was the director of the film The Clock born"
    candidates = [f"{executed} Ann", "The Clock: where was the director of the film born"]
    # One word of 21 differs; the second has the same ten.
    assert assessor.filter_queries(candidates, [executed], **FurepaSettings(differing=0.04).filter()) == [0]
    assert assessor.filter_queries([f"{executed} Ann Example"], [executed], **FurepaSettings().filter()) == [0]
    assert assessor.filter_queries(candidates[1:], [executed], **FurepaSettings().filter()) == []
    assert assessor.filter_queries(candidates[:1], [executed], **FurepaSettings(differing=0.25).filter()) == []


def test_filter_keeps_noise_that_is_new_and_drops_an_executed_query() -> None:
    candidates = ["alpha beta gamma delta epsilon zeta eta", "one two three four five six seven"]
    assert assessor.filter_queries(candidates, [candidates[1]], eps=2, min_cluster=2) == [0]


@given(st.lists(words, max_size=6), st.lists(words, max_size=6), st.floats(0, 3), st.integers(1, 6))
def test_the_filter_never_lets_an_executed_query_pass(
    candidates: Any, executed: Any, eps: Any, min_cluster: Any
) -> None:
    kept = assessor.filter_queries(candidates, executed, eps=eps, min_cluster=min_cluster)
    assert kept == sorted(set(kept))
    if min_cluster <= 2:  # above, two equal queries can both be noise
        asked = [assessor.bag_of_words(query) for query in executed]
        assert all(assessor.bag_of_words(candidates[index]) not in asked for index in kept)


@pytest.mark.parametrize(
    ("s", "score"),
    [([], 0.0), ([0.1, 0.5], 0.0), ([0.9, 0.2], 1.0), ([0.9, 0.6, 0.51], 1 / 3)],
)
def test_predicted_score_is_equation_10(s: Any, score: Any) -> None:
    assert assessor.predicted_score(s) == pytest.approx(score)


def test_rank_queries_breaks_ties_by_the_training_score_then_by_order() -> None:
    # counts 2, 1, 1, 0, 0, 1; sums of the ones with a count of 1: 0.65, 1.0, 0.65
    scores = [[0.6, 0.7], [0.55, 0.1], [0.9, 0.1], [0.2, 0.1], [0.3, 0.1], [0.55, 0.1]]
    assert assessor.rank_queries(scores) == [1, 5, 2, 0, 4, 3]
