"""A property that two subjects share, read off their passages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.reader.shared_property import shared_property

PASSAGES = (
    "Hot Rod: Hot Rod is a monthly American car magazine.",
    "Jane (magazine): Jane was an American magazine for women.",
    "Tree: A tree is a plant.",
)


@pytest.mark.parametrize(
    "question",
    [
        "Are Hot Rod and Jane both magazines?",
        "Are both Jane and Hot Rod American magazines?",
        "Were Hot Rod and Jane each a kind of magazine?",
    ],
)
def test_all_words_in_both_passages_are_a_yes(question: str) -> None:
    outcome = shared_property(question, PASSAGES)
    assert (outcome.applies, outcome.answer) == (True, "yes")


@pytest.mark.parametrize(
    "question",
    [
        "Are Hot Rod and Jane both magazines for women?",  # one passage lacks a word: it may say it otherwise
        "Are Hot Rod and Jane magazines?",
        "Are Hot Rod and Emma both magazines?",
        "Are Hot Rod, Jane and Tree both magazines?",
        "Are Hot Rod and Jane both?",
    ],
)
def test_what_the_words_do_not_tell_is_left_to_the_model(question: str) -> None:
    assert not shared_property(question, PASSAGES).applies


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_has_an_outcome(question: str, passages: list[str]) -> None:
    outcome = shared_property(question, passages)
    assert outcome.applies == (outcome.answer == "yes")
