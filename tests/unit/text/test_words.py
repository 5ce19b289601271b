"""Words of any script, and what a language makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.text import LANGUAGES, content_words, holds, language, terms, tokens, words


def test_english_terms() -> None:
    english = language("en")
    assert english.words("The Cities' horses, bus & CLASS of 1999s Straße") == [
        "the", "city", "horse", "bus", "class", "of", "1999", "straße",
    ]  # fmt: skip
    assert english.query_words("Who was the horses' keeper?") == ["horse", "keeper"]
    assert english.query_words("The Who") == ["the", "who"]


def test_german_terms_meet_whatever_their_ending_their_case_and_the_way_an_umlaut_is_typed() -> None:
    german = language("de")
    assert german.words("Häuser") == german.words("Hauses") == german.words("Ha\u0308usern")
    assert german.words("STRASSEN") == german.words("Straße")
    assert german.query_words("Was hat der Kaiser der Deutschen im Land gekrönt?") == [
        "kais",
        "deutsch",
        "land",
        "gekront",
    ]
    assert german.query_words("Die Ärzte") == ["arzt"]
    assert german.query_words("Der die das") == ["der", "die", "das"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("日本の首都", ["日本", "本の", "の首", "首都"]),
        ("Tokyoは東京", ["tokyo", "は東", "東京"]),
        ("猫 is a cat", ["猫", "is", "a", "cat"]),
        ("ﾄｳｷｮｳ・ＡＢＣ", ["トウ", "ウキ", "キョ", "ョウ", "abc"]),
        ("서울은", ["서울", "울은"]),
        ("\u0e01\u0e34\u0e19\u0e19\u0e49\u0e33", ["กิ", "ิน", "นน", "น้", "้ํ", "ํา"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("İstanbul", ["istanbul"]),
        ("snake_case 3.5", ["snake_case", "3", "5"]),
    ],
)
def test_terms_of_any_script(text: str, expected: Any) -> None:
    assert terms(text) == expected


@given(st.text(alphabet="aB1 .,'\u2019-\n", max_size=60))
def test_where_there_are_only_latin_letters_terms_are_words(text: str) -> None:
    assert terms(text) == words(text)


@given(st.text(max_size=60))
def test_tokens_hold_all_that_is_no_space_at_its_place(text: str) -> None:
    found = tokens(text)
    assert all(text[token.start : token.end] == token.text for token in found)
    assert "".join(token.text for token in found) == "".join(text.split())


def test_tokens_are_words_or_characters_with_their_signs() -> None:
    assert [token.text for token in tokens("Die 3,5-km-Bahn  東京へ ก่อน")] == [
        "Die", "3,5-km-Bahn", "東", "京", "へ", "ก่", "อ", "น",
    ]  # fmt: skip


def test_content_words_leave_function_words_out() -> None:
    assert content_words("What is the Capital of France?") == {"capital", "france"}
    assert content_words("日本の首都") == {"日本", "本の", "の首", "首都"}


@pytest.mark.parametrize(
    ("text", "part", "held"),
    [
        ("Its capital is Paris.", " paris", True),
        ("Parisian life", "Paris", False),
        ("no end", "no", True),
        ("north", "no", False),
        ("首都は東京です。", "東京", True),
        ("the 首都 is here", "首", True),
        ("anything", "  ", False),
        ("x" * 300 + "y", "x" * 300, True),
    ],
)
def test_whether_a_text_holds_a_name(text: str, part: str, held: bool) -> None:
    assert holds(text, part) is held


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_reads_any_text(code: str) -> None:
    known = language(code)
    assert known.code == code
    assert known is language(code)
    assert all(known.words("Ein Wort, слово, λόγος, كلمة, शब्द, 言葉 1999"))
    assert known.query_words("?!") == []


def test_an_unknown_language_is_refused_with_the_known_ones_named() -> None:
    with pytest.raises(InvalidInput, match=r"no language 'xx'; there are ar, .*de, .*ja, .*zh"):
        language("xx")
