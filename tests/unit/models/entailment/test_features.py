"""What the words of a pair say, on pairs small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.entailment.features import (
    FEATURES,
    coverage,
    feature_matrix,
    is_question,
    lexical_features,
    pack_premise,
    split_sentences,
    stem,
    word_overlap,
)

PREMISE = "Ada Lovelace was born in 1815. She did not write novels. Two engines were built."


def features(premise: str, hypothesis: str) -> dict[str, float]:
    return dict(zip(FEATURES, lexical_features(premise, hypothesis), strict=True))


def test_overlap_counts_content_words_by_stem() -> None:
    # Content: ada, wrot(e), novel, engine; the premise has ada, novel(s), engine(s), not "wrote".
    assert word_overlap(PREMISE, "Ada wrote a novel and an engine") == pytest.approx(3 / 4)
    assert word_overlap("", "Ada") == 0.0


def test_a_number_the_premise_lacks_is_seen_also_as_a_word() -> None:
    assert features(PREMISE, "Ada was born in 1815.")["numbers missing"] == 0.0
    assert features(PREMISE, "Ada was born in 1816.")["numbers missing"] == 1.0
    assert features(PREMISE, "There were 2 engines.")["numbers missing"] == 0.0
    assert features(PREMISE, "Engines were built.")["has numbers"] == 0.0


def test_a_name_the_premise_lacks_is_seen() -> None:
    assert features(PREMISE, "The engine of Babbage")["names missing"] == 1.0
    assert features(PREMISE, "The engine of Lovelace")["names missing"] == 0.0


def test_negation_is_compared_with_the_best_sentence() -> None:
    assert features(PREMISE, "She did write novels.")["negation dropped"] == 1.0
    assert features(PREMISE, "Lovelace was not born in 1815.")["negation added"] == 1.0
    assert features(PREMISE, "She did not write novels.")["negation added"] == 0.0


def test_runs_and_order_tell_who_did_it_to_whom() -> None:
    same, turned = features("Ada taught Byron", "Ada taught Byron"), features("Ada taught Byron", "Byron taught Ada")
    assert same["longest shared run"] == same["shared subsequence"] == same["order kept"] == 1.0
    assert turned["longest shared run"] == pytest.approx(1 / 3)
    assert turned["order kept"] == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who built it?", True),
        ("What was telenet", True),
        ("She asked who built it.", False),
        ("Who dares wins.", False),
    ],
)
def test_a_question_is_known_by_its_form(text: str, expected: bool) -> None:
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


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_gives_finite_features(premise: str, hypothesis: str) -> None:
    values = np.array(lexical_features(premise, hypothesis))
    assert values.shape == (len(FEATURES),)
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@given(st.text(max_size=400), st.integers(1, 40))
def test_packing_never_exceeds_its_room_nor_invents_words(premise: str, room: int) -> None:
    packed = pack_premise(premise, "a hypothesis", max_words=room)
    assert len(packed.split()) <= room
    assert set(packed.split()) <= set(premise.split())


@given(st.text(max_size=300))
def test_splitting_keeps_every_letter(text: str) -> None:
    kept = "".join(character for part in split_sentences(text) for character in part if character.isalnum())
    assert kept == "".join(character for character in text if character.isalnum())


def test_no_pairs_give_an_empty_matrix() -> None:
    assert feature_matrix([]).shape == (0, len(FEATURES))
