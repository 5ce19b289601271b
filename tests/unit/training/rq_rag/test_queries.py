"""Queries made of questions, titles and hops' answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.training.rq_rag.queries import (
    carrying,
    filled,
    name_of,
    names_only,
    part_about,
    references,
    rest_of,
)

QUESTION = "What is the nickname of the winner of the 1998 Wimbledon Championships?"


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("Bubye River >> country", (), "Bubye River country"),
        ("what is the waterfall in #1 ?", ("Zimbabwe",), "what is the waterfall in Zimbabwe?"),
        ("return the  city where  #2 is", ("a", "b"), "the city where b is"),
        ("#10 and #1", ["x"], "and x"),
    ],
)
def test_placeholders_are_filled(text: str, answers: tuple[str, ...], expected: str) -> None:
    assert filled(text, answers) == expected


def test_references_are_numbers() -> None:
    assert references("where #1 and #12 are") == {1, 12}


def test_the_part_about_a_text_keeps_small_words_within_and_needs_a_name() -> None:
    text = "The winner of the 1998 Wimbledon Championships was Pete Sampras."
    assert part_about(QUESTION, text) == "winner of the 1998 Wimbledon Championships"
    assert not part_about("Who is a close associate of it?", "a close associate")
    assert not part_about("Where is Wimbledon?", text)


def test_the_rest_is_what_carries_meaning_and_was_not_used() -> None:
    assert rest_of(QUESTION, "winner of the 1998 Wimbledon Championships") == "nickname"
    assert rest_of("Which opera has more acts, Parsifal or Manon?", "Parsifal", "Manon") == "opera acts"
    assert carrying("who is the first owner of reading football club") == "first owner reading football club"


def test_titles_lose_what_tells_them_from_namesakes() -> None:
    assert name_of("Alien Autopsy (film)") == "Alien Autopsy"
    assert name_of("(film)") == "(film)"


def test_names_must_have_been_read() -> None:
    assert names_only("Pete Sampras nickname", "It was Pete Sampras's win.")
    assert not names_only("Pete Sampras nickname", "It was a win.")
    assert not names_only("Pete in 1984", "Pete")
    assert names_only("Where is the spouse", "")


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_them(one: str, other: str) -> None:
    assert len(part_about(one, other)) <= len(one)
    assert len(rest_of(one, other)) <= len(one)
    names_only(one, other)
    filled(one, [other])
