"""Questions taken apart by hand, and words cut to stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.llm.offline.questions import analyse, entities
from langgraph_evidence.llm.offline.words import content_words, stem, stems


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who directed Tall Tales (1990 Film)?", ("Tall Tales (1990 Film)",)),
        ('Who sings "a quiet song" with Ann Example?', ("a quiet song", "Ann Example")),
        ("Which team did Roger de la Roche coach in 1998?", ("Roger de la Roche", "1998")),
        (
            "Are Rutgers University and Carnegie Mellon University in America?",
            ("Rutgers University", "Carnegie Mellon University", "America"),
        ),
        ("When was Ann Example's husband born?", ("Ann Example",)),
        ("who is it?", ()),
    ],
)
def test_names(question: str, names: tuple[str, ...]) -> None:
    assert analyse(question).names == names


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Which film was released earlier, Siam Sunset or Paris Calling?", ("Siam Sunset", "Paris Calling")),
        ("Which came first, No, No, Nanette or Bread?", ("No, No, Nanette", "Bread")),
        ("Are Ann Example and Bob Person both writers?", ("Ann Example", "Bob Person")),
        (
            "Do director of film Swami Dada and director of film Common Clay have the same nationality?",
            ("Swami Dada", "Common Clay"),
        ),
        ("Who was born in Paris and died in Rome?", None),
        ("Where was Ann Example born?", None),
    ],
)
def test_sides(question: str, sides: tuple[str, str] | None) -> None:
    assert analyse(question).sides == sides


def test_clauses_begin_with_the_innermost() -> None:
    clauses = analyse("Who is the mother of the director of the film Tall Tales?").clauses
    assert clauses[0] == "the film Tall Tales"
    assert "the director of the film Tall Tales" in clauses


@given(st.text(max_size=200))
def test_any_text_can_be_taken_apart(text: str) -> None:
    for span in entities(text):
        assert span.text in text
    assert all(name in " ".join(text.split()) for name in analyse(text).names)


def test_stems_join_the_forms_of_a_relation() -> None:
    assert stem("director") == stem("directed") == stem("directs")
    assert stem("performer") == stem("performed")
    assert stem("country") != stem("county")
    assert content_words("What is the name of Ann's film?") == ["ann", "film"]
    assert stems("The directors directed") == {"direct"}
