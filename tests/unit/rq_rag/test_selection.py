"""Selections worked out by hand: perplexity, confidence, ensemble, the authors' variants, support and the vote."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.methods.rq_rag.selection import (
    SELECTIONS,
    Trajectory,
    authors_confidence,
    chosen_of,
    confidence,
    perplexity,
    select_all,
)

ln = math.log


def trajectory(name: str, answer: str, **values: Any) -> Trajectory:
    empty: Any = {
        "actions": ["rewrite"], "queries": ["q"], "evidence": [["1"]], "generated": None, "final": None,
        "likeliest": None, "whole": None, "support": None, "failure": "", "why": "",
    }  # fmt: skip
    return cast("Trajectory", {**empty, "id": name, "answer": answer, **values})


def winners(*trajectories: Trajectory) -> dict[str, str]:
    return {
        name: chosen["trajectory"] for name, chosen in select_all(trajectories).items() if not chosen["unavailable"]
    }


def test_perplexity_is_the_inverse_geometric_mean_of_what_was_generated() -> None:
    # (1/2 * 1/8)^(-1/2) = 16^(1/2) = 4
    assert perplexity([ln(1 / 2), ln(1 / 8)]) == pytest.approx(4.0)
    assert perplexity([0.0, 0.0, 0.0]) == 1.0
    assert perplexity([ln(1 / 3)]) == pytest.approx(3.0)


def test_confidence_is_the_log_probability_of_all_of_the_answer() -> None:
    # ln(1/2 * 1/4) = -ln 8
    assert confidence([ln(1 / 2), ln(1 / 4)]) == pytest.approx(-ln(8))


def test_the_authors_confidence_is_a_mean_of_probabilities() -> None:
    assert authors_confidence([ln(0.5), ln(0.9)]) == pytest.approx(0.7)


def test_a_likely_answer_may_stand_on_an_unlikely_trajectory() -> None:
    """Y of 0-1: 1/2 in all four tokens, PPL 2, Conf ln(1/4); of 0-2: queries 1/8, answer 0.9, PPL (64 / 0.81)^(1/4)."""
    one = trajectory("0-1", "Paris", generated=[ln(1 / 2)] * 4, final=[ln(1 / 2)] * 2)
    two = trajectory("0-2", "Lyon", generated=[ln(1 / 8)] * 2 + [ln(0.9)] * 2, final=[ln(0.9)] * 2)
    found: Any = select_all([one, two])
    assert (found["ppl"]["trajectory"], found["ppl"]["score"]) == ("0-1", pytest.approx(2.0))
    assert (found["confidence"]["trajectory"], found["confidence"]["score"]) == ("0-2", pytest.approx(2 * ln(0.9)))
    assert perplexity(two["generated"] or []) == pytest.approx((64 / 0.81) ** 0.25)


def test_the_ensemble_sums_what_equal_answers_are_worth() -> None:
    """Paris 0.4 + the Paris. 0.3 = 0.7 beat Lyon's 0.6; its best trajectory is the first."""
    three = [
        trajectory("0-1", "Lyon", final=[ln(0.6)]),
        trajectory("0-2", "Paris", final=[ln(0.4)]),
        trajectory("0-3", "the Paris.", final=[ln(0.3)]),
    ]
    found: Any = select_all(three)
    assert (found["ensemble"]["answer"], found["ensemble"]["score"]) == ("Paris", pytest.approx(0.7))
    assert found["confidence"]["answer"] == "Lyon"
    assert (found["vote"]["answer"], found["vote"]["score"]) == ("Paris", 2.0)


def test_the_formula_as_it_stands_elects_the_answer_that_fewest_reach() -> None:
    """ln 0.4 + ln 0.3 = -2.12 is below Lyon's ln 0.2 = -1.61: agreement would count against an answer."""
    three = [
        trajectory("0-1", "Paris", final=[ln(0.4)]),
        trajectory("0-2", "Paris", final=[ln(0.3)]),
        trajectory("0-3", "Lyon", final=[ln(0.2)]),
    ]
    found: Any = select_all(three)
    assert (found["ensemble"]["answer"], found["ensemble"]["score"]) == ("Paris", pytest.approx(0.7))
    assert (found["ensemble_of_logs"]["answer"], found["ensemble_of_logs"]["score"]) == ("Lyon", pytest.approx(ln(0.2)))


def test_the_authors_variants_choose_others_than_the_paper() -> None:
    """Their perplexity counts what was retrieved, their confidence what was not said, their ensemble full stops."""
    one = trajectory(
        "0-1", "Paris", generated=[ln(1 / 2)] * 2, whole=[ln(1 / 2)] * 2 + [ln(1 / 50)] * 8,
        final=[ln(0.5), ln(0.5)], likeliest=[ln(0.5), ln(0.5)],
    )  # fmt: skip
    two = trajectory(
        "0-2", "Lyon", generated=[ln(1 / 4)] * 2, whole=[ln(1 / 4)] * 2 + [ln(1 / 3)] * 8,
        final=[ln(0.4), ln(0.4)], likeliest=[ln(0.6), ln(0.6)],
    )  # fmt: skip
    three = trajectory(
        "0-3", "paris.", generated=[ln(1 / 9)] * 2, whole=[ln(1 / 9)] * 10,
        final=[ln(0.3), ln(0.3)], likeliest=[ln(0.3), ln(0.3)],
    )  # fmt: skip
    won = winners(one, two, three)
    assert (won["ppl"], won["authors_ppl"]) == ("0-1", "0-2")
    assert (won["confidence"], won["authors_confidence"]) == ("0-1", "0-2")
    assert (won["ensemble"], won["authors_ensemble"]) == ("0-1", "0-2")
    found: Any = select_all([one, two, three])
    assert found["ensemble"]["score"] == pytest.approx(0.25 + 0.09)  # Paris and paris. are one
    assert found["authors_ensemble"]["score"] == pytest.approx(0.6)  # and here they are two: 0.5 and 0.3
    assert found["authors_ppl"]["score"] == pytest.approx((16 * 3**8) ** 0.1)


def test_an_answer_that_was_cut_is_no_answer_and_never_nan() -> None:
    cut = trajectory("0-1", "Par", final=[ln(0.99)], generated=[ln(0.99)], failure="truncated", likeliest=[], whole=[])
    none = trajectory("0-2", "Lyon", final=[], generated=[], likeliest=[], whole=[])
    whole = trajectory("0-3", "Rome", final=[ln(0.1)], generated=[ln(0.1)], likeliest=[ln(0.1)], whole=[ln(0.1)])
    found: Any = select_all([cut, none, whole])
    assert (
        winners(cut, none, whole)
        == {**dict.fromkeys(SELECTIONS, "0-3"), "vote": "0-2"}
        | {name: "" for name in SELECTIONS if found[name]["unavailable"]}
        or found["support"]["unavailable"]
    )
    for name in set(SELECTIONS) - {"support", "vote"}:
        assert found[name]["trajectory"] == "0-3", name
    assert all(row["score"] is None or math.isfinite(row["score"]) for row in found.values())


def test_equal_scores_go_to_the_first_in_the_order_of_the_tree() -> None:
    same = {"generated": [ln(0.5)], "final": [ln(0.5)], "likeliest": [ln(0.5)], "whole": [ln(0.5)], "support": 0.5}
    names = ["0-1-4", "0-1-1-4", "0-2"]
    alike = [trajectory(name, answer, **same) for name, answer in zip(names, "ABC", strict=True)]
    assert set(winners(*alike).values()) == {"0-1-4"}
    assert set(winners(*alike[::-1]).values()) == {"0-2"}


def test_without_log_probabilities_it_says_so_and_the_vote_decides_under_its_own_name() -> None:
    found: Any = select_all([trajectory("0-1", "Paris"), trajectory("0-2", "Lyon"), trajectory("0-3", "Lyon")])
    for name in ("ppl", "confidence", "ensemble", "authors_confidence", "authors_ensemble"):
        assert found[name]["unavailable"] == "The model gave no log-probabilities."
        assert chosen_of(found, name) == "vote"
    assert found["vote"]["answer"] == "Lyon"
    assert "`likelihood`" in found["authors_ppl"]["unavailable"]
    assert found["support"]["unavailable"]


def test_support_elects_what_the_evidence_says_however_unsure_the_model_is() -> None:
    sure = trajectory("0-1", "Lyon", final=[ln(0.9)], support=0.2)
    right = trajectory("0-2", "Paris", final=[ln(0.1)], support=0.8)
    assert winners(sure, right)["support"] == "0-2"
    assert chosen_of(select_all([sure, right]), "support") == "support"


def test_of_nothing_nothing_is_selected() -> None:
    for found in (select_all([]), select_all([trajectory("0", "", failure="lost")])):
        assert set(found) == set(SELECTIONS)
        assert {row["unavailable"] for row in found.values()} == {"No trajectory has an answer."}


@given(
    st.lists(
        st.tuples(
            st.text(max_size=3),
            st.none() | st.lists(st.floats(-9999.0, 0.0), max_size=4),
            st.none() | st.floats(0, 1),
            st.sampled_from(["", "truncated", "unusable"]),
        ),
        max_size=6,
    )
)
def test_any_trajectories_give_finite_scores_of_answers_that_are_there(rows: Any) -> None:
    given = [
        trajectory(f"0-{i}", answer, generated=p, final=p, likeliest=p, whole=p, support=support, failure=failure)
        for i, (answer, p, support, failure) in enumerate(rows)
    ]
    counted = {t["id"]: t["answer"] for t in given if t["answer"] and not t["failure"]}
    for row in json.loads(json.dumps(select_all(given), allow_nan=False)).values():
        assert bool(row["unavailable"]) is (row["score"] is None)
        assert row["unavailable"] or counted[row["trajectory"]] == row["answer"]
