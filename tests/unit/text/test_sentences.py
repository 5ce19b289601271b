"""Sentences of many scripts, each with its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.text import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("He met Dr. Noe. Then J. R. left.", ["He met Dr. Noe.", "Then J. R. left."]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("A 3.5 m wall. 12 men.", ["A 3.5 m wall.", "12 men."]),
        ("no end", ["no end"]),
        ("  ", []),
        ("Er kam 1990. Österreich blieb.", ["Er kam 1990.", "Österreich blieb."]),
        ("Он ушёл. Москва спит.", ["Он ушёл.", "Москва спит."]),
        ("¿Quién? ¡Él! «Sí.» Fin", ["¿Quién?", "¡Él!", "«Sí.»", "Fin"]),
        ("É. Zola wrote. É. Manet painted.", ["É. Zola wrote.", "É. Manet painted."]),
        (
            "吾輩は猫である。名前はまだ無い！？何処で生れたか。",
            ["吾輩は猫である。", "名前はまだ無い！？", "何処で生れたか。"],
        ),
        (
            "「行く。」と彼は言った。「では。」彼女は去った。",
            ["「行く。」と彼は言った。", "「では。」", "彼女は去った。"],
        ),
        ("他是谁？ 他是王。", ["他是谁？", "他是王。"]),
        ("राम गया। सीता आई।", ["राम गया।", "सीता आई।"]),
        ("هل جاء؟ نعم جاء.", ["هل جاء؟", "نعم جاء."]),
        ("ประเทศไทยมีเมืองหลวง กรุงเทพ", ["ประเทศไทยมีเมืองหลวง กรุงเทพ"]),
    ],
)
def test_sentences(text: Any, sentences: Any) -> None:
    assert [quote.text for quote in split_sentences(text)] == sentences


@given(st.text(alphabet="aB. ?!\n\"'3。！」とあ", max_size=80))
def test_every_character_is_in_one_sentence_at_its_place(text: Any) -> None:
    quotes = split_sentences(text)
    assert all(text[quote.start : quote.end] == quote.text for quote in quotes)
    assert "".join("".join(quote.text.split()) for quote in quotes) == "".join(text.split())


_WORDS = st.sampled_from("the river of 3.5 km, he said (in 1990) met Dr. Noe and J. R. Smith; No. 5 \u00c9lan".split())
_ENDINGS = st.sampled_from([".", "!", "?", '."', ".)", ".\u201d", "?!", "..."])


@given(st.lists(st.tuples(st.lists(_WORDS, min_size=1, max_size=12), _ENDINGS), min_size=1, max_size=6), st.data())
def test_ordinary_sentences_come_back_as_they_were_written(written: Any, data: Any) -> None:
    sentences = [" ".join(["It", *words, "end"]) + ending for words, ending in written]
    text = ""
    starts = []
    for sentence in sentences:
        text += data.draw(st.sampled_from([" ", "\n", "  \n\n"])) if text else ""
        starts.append(len(text))
        text += sentence
    found = split_sentences(text)
    assert [quote.text for quote in found] == sentences
    assert [quote.start for quote in found] == starts
