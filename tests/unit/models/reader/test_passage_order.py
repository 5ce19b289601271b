"""Which passages are read together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.reader.passage_order import relevance_order

JAWS = "Jaws (film): Jaws is a thriller directed by Steven Spielberg."
SPIELBERG = "Steven Spielberg: he is a man of Cincinnati."
TREES = "Trees: they are green and tall, and where born they stay."
BIRDS = "Birds: they fly."


def test_the_named_passage_and_the_one_it_names_come_first() -> None:
    question = "Where was the director of Jaws born?"
    order = relevance_order(question, [BIRDS, TREES, SPIELBERG, JAWS])
    assert order[:2] == [3, 2]


def test_ties_keep_the_given_order() -> None:
    assert relevance_order("What?", [BIRDS, TREES, BIRDS]) == [0, 1, 2]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=6))
def test_every_passage_is_ordered_once(question: str, passages: list[str]) -> None:
    assert sorted(relevance_order(question, passages)) == list(range(len(passages)))
