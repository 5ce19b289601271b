"""The check that ends the recursion."""

from typing import Any

import numpy as np
import pytest

from langgraph_evidence.methods.rebel.near_duplicates import near_duplicates


def no_features(texts: Any) -> Any:
    raise AssertionError(f"features were asked for {texts}")


def angles(texts: Any) -> Any:
    """Two questions at an angle of 10 degrees have the cosine 0.9848, at 12 degrees 0.9781."""
    radians = {"root": 0.0, "ten": np.radians(10), "twelve": np.radians(12)}
    rows = [(np.cos(radians[text]), np.sin(radians[text])) if text in radians else (0.0, 0.0) for text in texts]
    return np.array(rows, dtype=np.float32) * 7


@pytest.mark.parametrize(("near", "flags"), [(0.98, [True, False, False]), (0.97, [True, True, False])])
def test_above_the_cosine_of_the_setting_it_is_the_same_question(near: Any, flags: Any) -> None:
    assert near_duplicates(["ten", "twelve", "nothing"], ["root"], near=near, features=angles) == flags


def test_the_same_words_need_no_features() -> None:
    found = near_duplicates(["Who is  A", "who, is a?"], ["Who is A?"], near=0.98, features=no_features)
    assert found == [True, True]


def test_any_question_above_counts_and_nothing_is_near_nothing() -> None:
    assert near_duplicates(["ten"], ["twelve", "root"], near=0.98, features=angles) == [True]
    assert near_duplicates([], ["root"], near=0.98, features=no_features) == []
    assert near_duplicates(["ten"], [], near=0.98, features=no_features) == [False]
    assert near_duplicates(["ten"], ["root"], near=1.0, features=no_features) == [False]
