"""The gate: which numbers, dates and names a text states, and in which other forms they count as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.citations.facts import facts_of, held_by


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("1,200 men", {"=1200"}),
        ("twenty-one", {"=21"}),
        ("two hundred five dogs", {"=205"}),
        ("1.5 million", {"=1500000"}),
        ("the third man", {"=3"}),
        ("born on 5 May 2001", {"=5", "month:5", "=2001"}),
        ("born 2001-05-05", {"=5", "month:5", "=2001"}),
        ("May I come?", {"month:5"}),
        ("we may come", set()),
        ("Steven Spielberg", {"steven", "spielberg"}),
        ("the U.S. and José's dog", {"us", "jose"}),
        ("Construction began in 1950.", {"=1950"}),
        ("Yes", set()),
        ("an actor", set()),
    ],
)
def test_what_a_text_states(text: str, facts: set[str]) -> None:
    assert facts_of(text) == facts


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("5 May 2001", "He was born on May 5, 2001 in Kent."),
        ("3rd", "She came third."),
        ("1200", "It has 1,200 seats."),
        ("two million", "It has 2,000,000 seats."),
        ("Jose Alvarez", "José Álvarez's dog"),
        ("UK", "the U.K. census"),
    ],
)
def test_other_forms_of_the_same_count(said: str, quote: str) -> None:
    assert facts_of(said) <= held_by(quote)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("1951", "It began in 1950."),
        ("5 June 2001", "born on 5 May 2001"),
        ("Steven Soderbergh", "Steven Spielberg directed it."),
        ("12", "It has 1,200 seats."),
        ("three million", "It has 2,000,000 seats."),
    ],
)
def test_another_fact_does_not(said: str, quote: str) -> None:
    assert not facts_of(said) <= held_by(quote)


@given(st.text(max_size=80))
def test_every_text_holds_what_it_states(text: str) -> None:
    assert facts_of(text) <= held_by(text)


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_counts_with_and_without_separators(number: int) -> None:
    assert facts_of(f"{number} men") == facts_of(f"{number:,} men") == {f"={number}"}
