"""What a question wants, told from its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.reader.answer_types import choices, is_polar, narrowed, trimmed


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who is older, Ann Lee or Bob Ray?", ("Ann Lee", "Bob Ray")),
        ("Which film was released first, The Man of the House or  War (Film)?", ("The Man of the House", "War (Film)")),
        ("Was Pepper Keenan or Rob Parissi born first?", ("Pepper Keenan", "Rob Parissi")),
        ("Who was born first David Draiman or Terry Kath?", ("David Draiman", "Terry Kath")),
        ("Who was born first out of Ann Lee and Bob Ray?", ("Ann Lee", "Bob Ray")),
        ("What is the distance between Rome and Paris?", None),
        ("Who directed Jaws?", None),
        ("Who founded the orchestra of Orford?", None),
        ("", None),
    ],
)
def test_the_two_names_of_a_choice(question: str, wanted: tuple[str, str] | None) -> None:
    assert choices(question) == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Are Ann Lee and Bob Ray both poets?", True),
        ("Did Ann Lee write Emma?", True),
        ("Are both Lygodium or Maxillaria a genus of orchids?", True),
        ("Was Pepper Keenan or Rob Parissi born first?", False),
        ("Who is Ann Lee?", False),
        ("Isolde of which opera was sung by Ann Lee?", False),
    ],
)
def test_questions_that_want_yes_or_no(question: str, *, wanted: bool) -> None:
    assert is_polar(question) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the Beatles", "Beatles"),
        (" Theodore ", "Theodore"),
        ("Washington, D.C.", "Washington, D.C."),
        ('"Emma', "Emma"),
        ('"Emma"', '"Emma"'),
        ("Paris (France)", "Paris (France)"),
        ("(Paris", "Paris"),
        ("1912, ", "1912"),
        ("the", "the"),
    ],
)
def test_a_span_loses_what_no_answer_needs(text: str, wanted: str) -> None:
    start, end = trimmed(text, 0, len(text))
    assert text[start:end] == wanted


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("In what year did it open?", "May 1, 1989", "1989"),
        ("In what year did it open?", "spring", "spring"),
        ("When was she born?", "May 10, 1890 \u2013 August 17, 1987", "May 10, 1890"),
        ("What is the date of death of Ann?", "10 May 1890 - 17 August 1987", "17 August 1987"),
        ("When was it at war?", "June - July 1900", "June - July 1900"),
        ("Who is it?", "Ann (1890 - 1987)", "Ann (1890 - 1987)"),
    ],
)
def test_a_span_is_cut_to_what_was_asked(question: str, text: str, wanted: str) -> None:
    start, end = narrowed(question, text, 0, len(text))
    assert text[start:end] == wanted


@given(st.text(max_size=30))
def test_trimming_stays_inside(text: str) -> None:
    start, end = trimmed(text, 0, len(text))
    assert 0 <= start <= end <= len(text)


@given(st.text(max_size=60))
def test_any_text_is_a_question_of_some_kind(text: str) -> None:
    offered = choices(text)
    assert offered is None or all(offered)
    assert isinstance(is_polar(text), bool)
