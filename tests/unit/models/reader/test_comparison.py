"""Comparisons worked out by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.reader.comparison import (
    about,
    compared,
    comparison,
    countries,
    dates,
    fact_of,
    mentioned,
    plain,
    same_country,
    worked_out,
)

ANN = "Ann Lee: Ann Lee (3 May 1900 \u2013 1 June 1970) was an English poet."
BOB = "Bob Ray: Robert Ray (born Robert Rey; June 2, 1910) is an American film director."
JAWS = "Jaws (film): Jaws is a 1975 American thriller film directed by Bob Ray and starring Cid Poe."
EMMA = "Emma (1932 film): Emma is a 1932 British film written and directed by Ann Lee."


def nobody(question: str, passage: str) -> str:
    """Reads nothing."""
    return ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("on 3 May 1900", [(1900, 5, 3)]),
        ("June 2, 1910 and July 1911", [(1910, 6, 2), (1911, 7, 0)]),
        ("in 1975 or 476", [(1975, 0, 0)]),
        ("(13 May 194018 January 1989)", [(1940, 5, 13), (1989, 1, 18)]),
        ("no date", []),
    ],
)
def test_dates_of_a_text(text: str, wanted: list[tuple[int, int, int]]) -> None:
    assert dates(text) == wanted


def test_facts_of_passages() -> None:
    assert fact_of(ANN, "birth") == pytest.approx(1900 + 5 / 13 + 3 / 500)
    assert fact_of(ANN, "death") == pytest.approx(1970 + 6 / 13 + 1 / 500)
    assert fact_of(ANN, "life") == pytest.approx(70 + 1 / 13 - 2 / 500)
    assert fact_of(BOB, "birth") == pytest.approx(1910 + 6 / 13 + 2 / 500)
    assert fact_of(BOB, "death") is None
    assert fact_of(JAWS, "year") == 1975
    assert fact_of(JAWS, "birth") == 1975
    assert fact_of("Firm: Firm was founded in May 1920 in Rome.", "year") == pytest.approx(1920 + 5 / 13)
    assert fact_of("Firm: Firm sells shoes.", "year") is None


@pytest.mark.parametrize(
    ("question", "fact", "latest", "role"),
    [
        ("Who was born first, Ann Lee or Bob Ray?", "birth", False, None),
        ("Who is younger, Ann Lee or Bob Ray?", "birth", True, None),
        ("Which author died later, Ann Lee or Bob Ray?", "death", True, None),
        ("Who lived longer, Ann Lee or Bob Ray?", "life", True, None),
        ("Which film was released earlier, Ann Lee or Bob Ray?", "year", False, None),
        ("Which film has the director who was born later, Ann Lee or Bob Ray?", "birth", True, "director"),
        ("Which song's performer is older, the performer of Ann Lee or Bob Ray?", "birth", False, "performer"),
    ],
)
def test_what_a_question_compares(question: str, fact: str, latest: bool, role: str | None) -> None:
    found = comparison(question, ("Ann Lee", "Bob Ray"))
    assert found is not None
    assert (found.fact, found.latest, found.role) == (fact, latest, role)


def test_works_and_events_are_compared_by_their_years() -> None:
    for verb in ("produced", "made", "filmed", "built"):
        found = comparison(f"Which was {verb} first, Ann Lee or Bob Ray?", ("Ann Lee", "Bob Ray"))
        assert found is not None
        assert (found.fact, found.latest) == ("year", False)
    occurred = comparison("Which battle occurred first, Ann Lee or Bob Ray?", ("Ann Lee", "Bob Ray"))
    assert occurred is not None
    assert occurred.fact == "year"


def test_a_comma_does_not_cut_a_name_that_is_a_title() -> None:
    voyager = "Now, Voyager: Now, Voyager is a 1942 American film."
    outcome = worked_out("Which film came out later, Jaws or Now, Voyager?", [JAWS, voyager], nobody)
    assert outcome.answer == "Jaws"
    outcome = worked_out("Which film came out first, Jaws or Now, Voyager?", [JAWS, voyager], nobody)
    assert outcome.answer == "Now, Voyager"


def test_names_compared_do_not_decide_what_is_compared() -> None:
    question = "Which film came out first, The Last Lions or Born Yesterday?"
    found = comparison(question, ("The Last Lions", "Born Yesterday"))
    assert found is not None
    assert (found.fact, found.latest) == ("year", False)
    assert comparison("Who is taller, Ann Lee or Bob Ray?", ("Ann Lee", "Bob Ray")) is None


def test_passages_are_found_by_their_titles() -> None:
    assert plain("The \u00c9mile (1932 Film)") == "emile"
    assert about("Emma (1932 Film)", [ANN, EMMA]) == 1
    assert about("Off the Menu: Asia", ["Off the Menu: Asia: Off the Menu is a film.", ANN]) == 0
    assert about("Lee", [ANN, BOB]) == 0
    assert about("Cid", [ANN, BOB]) is None
    assert about("", [ANN]) is None
    assert mentioned("Are Bob Ray and Ann Lee poets?", [ANN, BOB, JAWS]) == ["Bob Ray", "Ann Lee"]


def test_a_passage_that_begins_with_its_title_has_one_all_the_same() -> None:
    sculptor = "Bernhard Afinger( 6 May 1813 \u2013 25 December 1882) was a German sculptor who taught Emma Lee."
    painter = "Emma Lee, a painter, was born in 1850 and lived beside Ann Afinger."
    assert about("Afinger", [painter, sculptor]) == 1
    assert about("Lee", [sculptor, painter]) == 1


def test_the_director_is_followed() -> None:
    question, passages = "Which film has the director who died first, Jaws or Emma?", [JAWS, EMMA, ANN, BOB]
    older = question.replace("died first", "is older")
    assert compared(older, ("Jaws", "Emma"), passages, nobody).answer == "Emma"
    assert compared(older.replace("older", "younger"), ("Jaws", "Emma"), passages, nobody).answer == "Jaws"
    untold = compared(question, ("Jaws", "Emma"), passages, nobody)
    assert (untold.applies, untold.answer) == (True, None)
    assert compared(older, ("Jaws", "Emma"), passages[:3], nobody).answer is None


def test_countries_are_compared() -> None:
    village = "Dehgah: Dehgah is a village in Margha Rural District, Khuzestan Province, Iran. It is small."
    town = "Kalleh: Kalleh is a town in Goli District, Tonekabon County, Iran."
    assert countries(village) == countries(town) == {"Iran"}
    assert countries(ANN) == {"British"}
    assert same_country("Are Dehgah and Kalleh in the same country?", [village, town], nobody).answer == "yes"
    assert same_country("Do Ann Lee and Bob Ray share the same nationality?", [ANN, BOB], nobody).answer == "no"
    films = "Do the films Jaws and Emma have the directors of the same nationality?"
    assert same_country(films, [JAWS, EMMA, ANN, BOB], nobody).answer == "no"
    alone = same_country("Are Dehgah and Kalleh in the same country?", [village], nobody)
    assert (alone.applies, alone.answer) == (True, None)


def test_other_questions_are_left_alone() -> None:
    for question in ("Who directed Jaws?", "Is Ann Lee a poet?", "Who is taller, Ann Lee or Bob Ray?"):
        assert not worked_out(question, [ANN, BOB], nobody).applies


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_has_an_outcome(question: str, passages: list[str]) -> None:
    outcome = worked_out(question, passages, nobody)
    assert outcome.applies or outcome.answer is None
