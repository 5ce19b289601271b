"""Reading the evidence, proposing queries, and knowing when there is enough."""

from __future__ import annotations

import random

from langgraph_evidence.llm.offline.candidates import first_candidates, next_candidates
from langgraph_evidence.llm.offline.coverage import coverage
from langgraph_evidence.llm.offline.evidence import bridges, met, residual, title_of
from langgraph_evidence.llm.offline.hops import NextSteps, plan
from langgraph_evidence.llm.offline.questions import analyse

FILM = "Tall Tales (1990 film): Tall Tales is a 1990 comedy film directed by Ann Example. It stars Bob Person."
DIRECTOR = "Ann Example: Ann Example (born 1950) is a director. Her mother is the painter Jane Example."
OTHER = "Clay Pots: Clay pots are pots. They are made of clay."
QUESTION = "Who is the mother of the director of film Tall Tales (1990 Film)?"


def test_titles_are_told_from_texts() -> None:
    assert title_of(FILM) == "Tall Tales (1990 film)"
    assert title_of("Ann Example is a director.") == "Ann Example"
    assert title_of("no names here") == ""


def test_a_name_is_met_by_a_passage_about_it() -> None:
    assert met("Tall Tales (1990 Film)", (FILM,))
    assert not met("Ann Example", (FILM,))


def test_the_residual_is_what_no_evidence_holds() -> None:
    assert residual(analyse(QUESTION), (FILM,)) == ["mother"]
    assert residual(analyse(QUESTION), (FILM, DIRECTOR)) == []


def test_new_names_are_bridges_and_titles_held_are_none() -> None:
    question = analyse(QUESTION)
    assert [bridge.name for bridge in bridges(question, (FILM,))] == ["Ann Example", "Bob Person"]
    assert "Ann Example" not in [bridge.name for bridge in bridges(question, (FILM, DIRECTOR))]
    ann, bob = bridges(question, (FILM,))
    assert ann.features["inner"] == 1 / 2  # directed, by, Ann
    assert ann.features["by"] == 1
    assert bob.features["by"] == 0


def test_the_best_query_joins_the_bridge_and_what_is_open() -> None:
    query = plan(QUESTION, (FILM,)).queries[0][0]
    assert "Ann Example" in query
    assert "mother" in query
    assert "Tall Tales" not in query


def test_a_comparison_asks_for_one_side_and_then_for_the_other() -> None:
    question = analyse("Which film was released earlier, Siam Sunset or Paris Calling?")
    first = [candidate.query for candidate in first_candidates(question)]
    assert "Siam Sunset film released earlier" in first
    found = next_candidates(question, ("Siam Sunset: Siam Sunset is a film.",))
    sides = [candidate for candidate in found if candidate.kind == "side_alone"]
    assert [candidate.query for candidate in sides] == ["Paris Calling"]


def test_no_query_is_empty() -> None:
    for evidence in ((), (FILM,), (FILM, DIRECTOR)):
        assert all(query.strip() for query, _ in plan(QUESTION, evidence).queries)


def test_the_evidence_is_enough_when_it_holds_the_chain() -> None:
    assert plan(QUESTION, ()).ready == 0
    assert plan(QUESTION, (FILM,)).ready == 0
    assert plan(QUESTION, (FILM, OTHER)).ready < 0.5 < plan(QUESTION, (FILM, DIRECTOR)).ready


def test_coverage_by_hand() -> None:
    features = coverage(analyse(QUESTION), (FILM, DIRECTOR), best=1.5)
    assert features["open"] == 0
    assert features["names_met"] == 1
    assert features["linked"] == 1  # Ann Example is named in the film's passage
    assert features["last_linked"] == 1
    assert features["best"] == 1.5
    sides = coverage(analyse("Which is older, Siam Sunset or Paris Calling?"), (FILM, OTHER), best=0.0)
    assert (sides["both_sides"], sides["one_side"], sides["no_side"]) == (0, 0, 1)


def test_draws_follow_the_scores() -> None:
    plans = NextSteps(queries=(("a", 2.0), ("b", 0.0)), ready=0.9, known="")
    rng = random.Random(0)
    assert {plans.query(0.0, rng) for _ in range(20)} == {"a"}
    assert sum(plans.query(0.2, rng) == "a" for _ in range(200)) > 195
    assert 100 < sum(plans.query(2.0, rng) == "a" for _ in range(200)) < 190
    assert plans.answers(0.0, rng)
    assert all(plans.answers(0.2, rng) for _ in range(200))
    assert 130 < sum(plans.answers(2.0, rng) for _ in range(200)) < 195  # sigmoid(log(9) / 2) = 0.75


def test_dates_and_aliases_of_a_title_lead_nowhere() -> None:
    line = "Clock Tower, Brighton: Clock Tower (or the Jubilee Clock) was built on 15 March 1834 by Ann Example."
    names = [bridge.name for bridge in bridges(analyse("Who built it?"), (line,))]
    assert names == ["Jubilee Clock", "Ann Example"]
