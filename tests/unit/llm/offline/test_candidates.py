"""The planner's own lines: the queries it can ask, the features of each, and what it makes of them, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.llm.offline.candidates import Candidate, first_candidates, next_candidates, proposed
from langgraph_evidence.llm.offline.coverage import coverage
from langgraph_evidence.llm.offline.evidence import bridges
from langgraph_evidence.llm.offline.hops import plan
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.llm.offline.weights import Tables, weigh

FILM = "Tall Tales (1990 film): Tall Tales is a 1990 comedy film directed by Ann Example. It stars Bob Person."
DIRECTOR = "Ann Example: Ann Example (born 1950) is a director. Her mother is the painter Jane Example."
OTHER = "Clay Pots: Clay pots are pots. They are made of clay."
SIDE = "Siam Sunset: Siam Sunset is a film of Ann Lee."
# Its words of meaning: mother, director, film, tall, tales, 1990, film.
NESTED = analyse("Who is the mother of the director of film Tall Tales (1990 Film)?")
# Its words of meaning: film, released, earlier, siam, sunset, paris, calling.
COMPARED = analyse("Which film was released earlier, Siam Sunset or Paris Calling?")


def of(kind: str, found: list[Candidate]) -> dict[str, dict[str, float]]:
    return {candidate.query: candidate.features for candidate in found if candidate.kind == kind}


def test_before_there_is_evidence() -> None:
    found = first_candidates(NESTED)
    assert [candidate.kind for candidate in found] == ["question", "clause", "name"]
    assert found[0].features == {"length": 0.7, "names": 1 / 4}
    clause = "the director of film Tall Tales (1990 Film)"
    assert of("clause", found) == {clause: {"order": 0.0, "share": 6 / 7, "names": 1.0}}
    shape = {"several_words": 1.0, "long": 1.0, "bracketed": 1.0, "digits": 0.0}
    assert of("name", found) == {"Tall Tales (1990 Film)": {**shape, "order": 0.0, "alone": 1.0, "length": 0.7}}


def test_a_side_keeps_the_question_and_leaves_out_the_other_side() -> None:
    shape = {"several_words": 1.0, "long": 0.0, "bracketed": 0.0, "digits": 0.0}
    found = first_candidates(COMPARED)
    assert of("side", found) == {
        "Siam Sunset film released earlier": {"order": 0.0, **shape},
        "Paris Calling film released earlier": {"order": 1.0, **shape},
    }
    assert list(of("side_alone", found)) == ["Siam Sunset", "Paris Calling"]
    assert [features["alone"] for features in of("name", found).values()] == [0.0, 0.0]
    left = next_candidates(COMPARED, (SIDE,))
    assert of("side", left) == {"Paris Calling film released earlier": {"order": 1.0, "mentioned": 0.0, **shape}}
    mentioned = next_candidates(COMPARED, (f"{SIDE} It came before Paris Calling.",))
    assert [features["mentioned"] for features in of("side_alone", mentioned).values()] == [1.0]


def test_what_the_evidence_leaves_open() -> None:
    found = next_candidates(COMPARED, (SIDE,))
    assert of("question", found) == {COMPARED.text: {"open": 4 / 7}}
    assert of("residual", found) == {"released earlier paris calling": {"open": 4 / 7, "words": 0.4}}
    # The name's own words are no tail of it.
    assert list(of("name_tail", found)) == ["Paris Calling released earlier"]
    assert of("name", found)["Paris Calling"]["open"] == 0.4
    # Of siam, sunset, paris, calling two are open.
    clause = {"order": 0.0, "share": 4 / 7, "open": 0.5, "names": 1.0}
    assert of("clause", found) == {"Siam Sunset or Paris Calling": clause}


def test_where_the_evidence_leads() -> None:
    found = next_candidates(NESTED, (FILM,))
    assert list(of("bridge", found)) == ["Ann Example", "Bob Person"]
    assert list(of("bridge_tail", found)) == ["Ann Example mother", "Bob Person mother"]
    assert "Who is the mother of the director of film Ann Example" in of("bridge_rest", found)
    ann, bob = of("bridge", found).values()
    assert [ann[name] for name in ("relation", "near", "early", "led", "about", "newest")] == [0.5, 1, 1, 1, 1, 1]
    assert [bob[name] for name in ("relation", "near", "early", "led", "about", "newest")] == [0, 0, 0.5, 0, 1, 1]
    assert (ann["compared"], ann["other_side"]) == (0.0, 0.0)
    lee = of("bridge_tail", next_candidates(COMPARED, (SIDE,)))["Ann Lee released earlier"]
    assert (lee["compared"], lee["other_side"]) == (1.0, 1.0)


def test_a_name_that_two_passages_tell_is_repeated_and_keeps_its_best_place() -> None:
    again = "Bob Person's films: They are many. He met Ann Example and Cora Sample."
    found = {bridge.name: bridge for bridge in bridges(NESTED, (FILM, again))}
    assert (found["Ann Example"].passage, found["Ann Example"].features["repeated"]) == (0, 1.0)
    assert "repeated" not in found["Cora Sample"].features
    assert [found[name].features["newest"] for name in ("Ann Example", "Cora Sample")] == [0.0, 1.0]


def test_weights_are_found_by_kind_group_and_by_whether_there_is_evidence() -> None:
    candidate = Candidate("q", "bridge_tail", {"early": 0.5})
    assert candidate.named(0) == {"kind/bridge_tail/0": 1.0, "bridge/early": 0.5}
    assert candidate.named(1) == candidate.named(3) == {"kind/bridge_tail/1": 1.0, "bridge/early": 0.5}
    assert weigh(candidate.named(1), {"kind/bridge_tail/1": 2.0, "bridge/early": -3.0, "x": 9.0}) == 0.5


def test_a_query_made_in_two_ways_has_the_better_score_and_the_best_goes_first() -> None:
    table = {"kind/side_alone/0": 1.0, "kind/name/0": 3.0, "kind/side/0": 2.0, "name/order": -0.5}
    queries = plan(COMPARED.text, (), tables=Tables(table, {})).queries
    assert queries[:4] == (
        ("Siam Sunset", 3.0),
        ("Paris Calling", 2.5),
        ("Siam Sunset film released earlier", 2.0),
        ("Paris Calling film released earlier", 2.0),
    )
    assert {candidate.query for candidate in proposed(COMPARED, ())} == {query for query, _ in queries}


@pytest.mark.parametrize(
    ("evidence", "ready"),
    [((), 0.0), ((FILM,), 0.0), ((FILM, OTHER), 1 / (1 + 2.718281828**-2)), ((FILM, OTHER, DIRECTOR), 0.5)],
)
def test_readiness_is_the_logistic_of_the_coverage_from_two_passages_on(evidence: Any, ready: Any) -> None:
    tables = Tables({"kind/question/1": 5.0}, {"one": 1.0, "best": 0.2, "three": -2.0})
    plans = plan(NESTED.text, evidence, tables=tables)
    assert plans.ready == pytest.approx(ready)
    names = ["Tall Tales (1990 film)", "Clay Pots", "Ann Example"][: len(evidence)]
    assert plans.known == (f"The context is about {', '.join(names)}." if names else "")


def test_coverage_by_hand_before_and_after_the_last_passage() -> None:
    without = coverage(NESTED, (FILM, OTHER), best=0.5)
    assert without == {
        "one": 1.0,
        "three": 0.0,
        "four": 0.0,
        "open": 1 / 7,  # mother
        "names_met": 1.0,
        "names_mentioned": 0.0,  # it is written with a small f
        "best": 0.5,
        "length": 0.7,
        "hops": 3 / 4,  # who, of, of
        "linked": 0.0,
        "last_linked": 0.0,
    }
    after = coverage(NESTED, (FILM, OTHER, DIRECTOR), best=0.5)
    changed = {"three": 1.0, "open": 0.0, "linked": 1 / 2, "last_linked": 1.0}
    assert after == {**without, **changed}
    four = coverage(NESTED, (FILM, DIRECTOR, OTHER, OTHER), best=0.5)
    assert (four["three"], four["four"], four["linked"], four["last_linked"]) == (0.0, 1.0, 1 / 3, 0.0)


def test_coverage_of_a_comparison_by_hand() -> None:
    question = analyse("Are the directors of film Siam Sunset and of film Paris Calling both Danish?")
    both = "Paris Calling: It is a film."
    sides = [coverage(question, evidence, best=0.0) for evidence in ((OTHER, FILM), (SIDE, OTHER), (SIDE, both))]
    assert [[each[name] for name in ("no_side", "one_side", "both_sides")] for each in sides] == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert {(each["behind_sides"], each["behind_sides_found"]) for each in sides} == {(1.0, 2 / 4)}
    assert coverage(question, (SIDE, both, OTHER, FILM, DIRECTOR), best=0.0)["behind_sides_found"] == 1.0
    assert coverage(COMPARED, (SIDE,), best=0.0)["behind_sides_found"] == 0.0
