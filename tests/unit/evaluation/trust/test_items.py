"""Changed answers are false and reworded ones as true: each rule by hand, and what it leaves alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from langgraph_evidence.evaluation.trust.changes import change_date, change_name, change_number, name_pool
from langgraph_evidence.evaluation.trust.denials import (
    OWN_WORDS,
    denied_sentence,
    deny,
    sentence_facts,
    swap,
    swapped_sentence,
)
from langgraph_evidence.evaluation.trust.details import dates, names, numbers, ordinal, value_of
from langgraph_evidence.evaluation.trust.facts import Fact
from langgraph_evidence.evaluation.trust.rewordings import REWORDINGS
from langgraph_evidence.evaluation.trust.statements import statement_of
from langgraph_evidence.evaluation.trust.verbs import BY_BASE, VERBS
from langgraph_evidence.types import Passage

TEXT = (
    "The Silent Mill is a film that Ingrid Vance directed in 1951. Peter Olsen produced it in Norway with 40 people. "
    "It was shown on 4 March 1952 in Bergen."
)
PASSAGE = Passage(id="m", title="The Silent Mill", text=TEXT)


def must(item: Any) -> Any:
    assert item is not None
    return item


def fact(answer: Any, question: Any = "", *, source: Any = "FEVER", text: Any = TEXT) -> Any:
    passage = Passage(id="m", title="The Silent Mill", text=text)
    return Fact(f"{question}{answer}", source, "g", question, answer, (answer,), (passage,))


def texts(found: Any) -> Any:
    return [detail.text for detail in found]


def test_details_are_found_at_their_places() -> None:
    text = "On 4 March 1952 and in May 1953, Ann von Lee at The Hague won 3rd prize (1,200 crowns) from two Germans."
    assert texts(dates(text)) == ["4 March 1952", "May 1953"]
    assert texts(numbers(text)) == ["3rd", "1,200", "two"]
    assert texts(names(text)) == ["Ann von Lee", "Hague"]
    assert all(text[d.start : d.end] == d.text for d in (*dates(text), *numbers(text), *names(text)))


def test_a_range_of_years_or_a_day_without_one_is_no_detail() -> None:
    assert texts(dates("From 1688–1692, in the 1990s and 1994/95.")) == []
    assert texts(numbers("It fell on 20 March or on March 21, 1999.")) == []


def test_a_capital_that_begins_a_sentence_is_no_name() -> None:
    assert texts(names('Water is wet. Anna likes Bergen. "Red" is one.')) == ["Bergen"]


def test_numbers_have_values_and_endings() -> None:
    assert [value_of(text) for text in ("1,200", "3rd", "twelve", "2.5")] == [1200, 3, 12, 2.5]
    assert [ordinal(number) for number in (1, 2, 3, 11, 22, 13)] == ["1st", "2nd", "3rd", "11th", "22nd", "13th"]


def test_verbs_have_their_forms() -> None:
    assert BY_BASE["star"].past == "starred"
    assert BY_BASE["marry"].past == "married"
    assert BY_BASE["play"].past == "played"
    assert BY_BASE["write"] == ("write", "wrote", "written")
    assert len({verb.base for verb in VERBS}) == len(VERBS)


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Who directed The Silent Mill?", "Ingrid Vance", "Ingrid Vance directed The Silent Mill."),
        ("Who is the mother of Ann?", "Bea", "The mother of Ann is Bea."),
        ("What was the capital of Norway?", "Bergen", "The capital of Norway was Bergen."),
        ("Where was Ann Lee born?", "Bergen", "Ann Lee was born in Bergen."),
        ("Where was Ann Lee born?", "near Bergen", "Ann Lee was born near Bergen."),
        ("When was the bridge opened?", "4 March 1952", "The bridge was opened on 4 March 1952."),
        ("In what year was the bridge opened?", "1952", "The bridge was opened in 1952."),
        ("When did Ann Lee join the club?", "May 1952", "Ann Lee joined the club in May 1952."),
        ("Where did Ann Lee live?", "Oslo", "Ann Lee lived in Oslo."),
        ("Who did Ann Lee marry?", "Bo", "Ann Lee married Bo."),
        ("How many wheels does it have?", "three", "It has three wheels."),
        ("which company founded it", "Helm", "Helm founded it."),
    ],
)
def test_a_question_and_its_answer_make_a_sentence(question: Any, answer: Any, statement: Any) -> None:
    assert statement_of(question, answer) == statement


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is it red?", "yes"),
        ("Who directed it and when did they die?", "Bo"),
        ("How many wheels does it have?", "three wheels"),
        ("Why?", "so"),
        ("Who led it?", "Led by Bo"),
        ("When was the mill that is a part of it built?", "1950"),
        ("Who directed it?", ""),
    ],
)
def test_where_no_rule_is_sure_there_is_no_sentence(question: Any, answer: Any) -> None:
    assert statement_of(question, answer) is None


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("Ann is a painter who was born in Oslo.", "Ann is not a painter who was born in Oslo."),
        ("The prize has been given to Ann.", "The prize has not been given to Ann."),
        ("Ann Lee wrote a book in 1950.", "Ann Lee did not write a book in 1950."),
        ("Ann appears in books published by Helm.", None),
        ("Ann is not a painter.", None),
        ("Ann never was a painter.", None),
    ],
)
def test_a_sentence_is_denied_where_its_verb_is_plain(sentence: Any, denied: Any) -> None:
    assert denied_sentence(sentence) == denied


def test_yes_becomes_no_and_a_short_answer_is_denied_as_a_sentence() -> None:
    assert must(deny(fact("yes", "Is it red?"))).answer == "no"
    item = must(deny(fact("Ingrid Vance", "Who directed The Silent Mill?")))
    assert (item.question, item.answer) == ("", "Ingrid Vance did not direct The Silent Mill.")
    assert item.truth == "Ingrid Vance"
    assert deny(fact("so", "Why?")) is None


@pytest.mark.parametrize(
    ("sentence", "swapped"),
    [
        ("Ann Lee directed Red Mill in 1950.", "Red Mill directed Ann Lee in 1950."),
        ("Red Mill was written by Ann Lee.", "Ann Lee was written by Red Mill."),
        ("Oslo is a city in Norway, by the sea.", "Norway is a city in Oslo, by the sea."),
        ("The director of Red Mill is Ann Lee.", "The director of Ann Lee is Red Mill."),
        ("Ann Lee is a friend of Bo Ray.", None),
        ("Ann Lee married Bo Ray.", None),
        ("Ann Lee wrote Lee Street.", None),
        ("Ann Lee wrote Red Mill and Bo Ray the rest.", None),
        ("It was written by Ann Lee.", None),
    ],
)
def test_names_change_places_where_that_cannot_be_true(sentence: Any, swapped: Any) -> None:
    assert swapped_sentence(sentence) == swapped


def test_only_names_of_the_evidence_change_places() -> None:
    assert swap(fact("Ingrid Vance directed Red Mill.")) is None
    item = must(swap(fact("Ingrid Vance directed Peter Olsen.")))
    assert item.answer == "Peter Olsen directed Ingrid Vance."


def test_a_name_is_exchanged_for_one_of_the_evidence_or_for_one_that_is_nowhere_in_it() -> None:
    asked = fact("Ingrid Vance", "Who directed The Silent Mill?")
    other = fact("Ann Lee", "Who wrote Red Mill?", text="Ann Lee wrote Red Mill.")
    pool = name_pool([asked, other])
    found = {must(change_name(asked, pool, Random(seed)))[3:6:2] for seed in range(20)}
    assert found == {("from the evidence", "Peter Olsen"), ("from elsewhere", "Ann Lee")}


@pytest.mark.parametrize("question", ["Who is older, Ann or Bo?", "Who starred in The Silent Mill?", "Why Bergen?"])
def test_where_another_answer_may_be_right_nothing_is_exchanged(question: Any) -> None:
    assert change_name(fact("Ingrid Vance", question), {("person", True): ["Ann Lee"]}, Random(0)) is None
    assert change_date(fact("1951", question), Random(0)) is None


def test_a_number_becomes_another_that_the_evidence_does_not_give() -> None:
    for seed in range(20):
        item = change_number(fact("40", "How many people produced it?"), Random(seed))
        assert item is None or (item.answer != "40" and item.answer not in TEXT)
    assert change_number(fact("It had at least 40 people."), Random(0)) is None
    assert change_number(fact("It had 41 people."), Random(0)) is None


def test_a_date_becomes_another_of_the_same_form() -> None:
    made = {must(change_date(fact("The film is of 1951."), Random(seed))).answer for seed in range(10)}
    assert "The film is of 1951." not in made
    assert all(answer.startswith("The film is of 19") for answer in made)
    days = {must(change_date(fact("It was shown on 4 March 1952."), Random(seed))).answer for seed in range(30)}
    assert len(days) > 3
    assert change_date(fact("It was shown before 1951."), Random(0)) is None


@pytest.mark.parametrize(
    ("way", "answer", "reworded"),
    [
        ("date form", "March 4, 1952", "4 March 1952"),
        ("date form", "shown 4 March 1952", "shown the 4th of March 1952"),
        ("date form", "the 4th of March 1952", "March 4, 1952"),
        ("date form", "1952", None),
        ("number form", "It has 12 wheels.", "It has twelve wheels."),
        ("number form", "It has three wheels.", "It has 3 wheels."),
        ("number form", "It has 1,200 wheels.", "It has 1200 wheels."),
        ("number form", "It has no wheels.", None),
        ("number form", "He saw Cyborg 2 twice.", None),
        ("synonym", "It is a film of 1951.", "It is a movie of 1951."),
        ("synonym", 'It is called "a film".', None),
        ("voice", "Ann Lee wrote Red Mill in 1950.", "Red Mill was written by Ann Lee in 1950."),
        ("voice", "Red Mill was written by Ann Lee.", "Ann Lee wrote Red Mill."),
        ("voice", "The director of Red Mill is Ann Lee.", "Red Mill was directed by Ann Lee."),
        ("voice", "Ann Lee wrote Red Mill with Bo Ray.", None),
        ("clause order", "In 1950, the mill was closed.", "The mill was closed in 1950."),
        ("clause order", "The mill was closed in 1950.", "In 1950, the mill was closed."),
        ("clause order", "Ann Lee died on May 4, 1950.", "On May 4, 1950, Ann Lee died."),
        ("clause order", "It was closed and sold in 1950.", None),
        ("clause order", "Red Mill is a film shown in 1950.", None),
        ("clause order", "The mill was sold with a film released in 1950.", None),
        ("question as a sentence", "It is red.", None),
    ],
)
def test_a_rewording_says_the_same(way: Any, answer: Any, reworded: Any) -> None:
    item = REWORDINGS[way](fact(answer))
    assert (item.answer if item else None) == reworded


def test_a_question_is_reworded_with_its_answer() -> None:
    item = must(REWORDINGS["question as a sentence"](fact("Ingrid Vance", "Who directed The Silent Mill?")))
    assert (item.question, item.answer, item.asked) == (
        "",
        "Ingrid Vance directed The Silent Mill.",
        "Who directed The Silent Mill?",
    )


def test_sentences_of_the_evidence_are_facts_unless_they_say_it() -> None:
    found = list(sentence_facts([("SQuAD", PASSAGE), ("SQuAD", PASSAGE)]))
    assert [f.answer[:12] for f in found] == ["The Silent M", "Peter Olsen "]
    assert {f.source for f in found} == {f"SQuAD{OWN_WORDS}"}
