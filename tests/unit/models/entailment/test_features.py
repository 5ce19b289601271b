"""What the words of a pair say, on pairs small enough to count by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.entailment.features import (
    coverage,
    is_question,
    pack_premise,
    split_sentences,
    stem,
    word_overlap,
)

PREMISE = "Ada Lovelace was born in 1815. She did not write novels. Two engines were built."


def test_overlap_counts_content_words_by_stem() -> None:
    # Content: ada, wrot(e), novel, engine; the premise has ada, novel(s), engine(s), not "wrote".
    assert word_overlap(PREMISE, "Ada wrote a novel and an engine") == pytest.approx(3 / 4)
    assert word_overlap("", "Ada") == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who built it?", True),
        ('Who built "it?"', True),
        ("She asked who built it.", False),
        ("Who built it? Ada Lovelace", False),
        ("Are both in Kent? yes", False),
    ],
)
def test_a_question_is_known_by_how_it_ends(text: str, expected: bool) -> None:
    assert is_question(text) is expected


def test_stems_join_inflections_and_number_words() -> None:
    assert stem("Engines") == stem("engine")
    assert stem("1,815") == "1815"
    assert stem("Two") == "2"


def test_coverage_of_nothing_is_nothing() -> None:
    assert coverage([], ["a"]) == 0.0
    assert coverage(["a", "b"], ["a"]) == 0.5


def test_a_long_premise_is_packed_to_what_matters_in_its_own_order() -> None:
    filler = " ".join(f"Filler sentence number {place} says little." for place in range(100))
    premise = f"Ada met Babbage. {filler} Babbage designed the engine."
    packed = pack_premise(premise, "Ada met Babbage, who designed the engine.", max_words=20)
    assert len(packed.split()) <= 20
    assert packed.startswith("Ada met Babbage.")
    assert packed.endswith("Babbage designed the engine.")
    assert pack_premise("Short. Text.", "x", max_words=5) == "Short. Text."


@given(st.text(max_size=400), st.integers(1, 40))
def test_packing_never_exceeds_its_room_nor_invents_words(premise: str, room: int) -> None:
    packed = pack_premise(premise, "a hypothesis", max_words=room)
    assert len(packed.split()) <= room
    assert set(packed.split()) <= set(premise.split())


@given(st.text(max_size=300))
def test_splitting_keeps_every_letter(text: str) -> None:
    kept = "".join(character for part in split_sentences(text) for character in part if character.isalnum())
    assert kept == "".join(character for character in text if character.isalnum())
