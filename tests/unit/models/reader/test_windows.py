"""Questions and passages as token windows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_evidence.models.base.tokenizer import TextTokenizer
from langgraph_evidence.models.base.weights import find_base
from langgraph_evidence.models.reader.windows import Window, windows

TOKENIZER = TextTokenizer(find_base().tokenizer)


def told(window: Window, passages: list[str]) -> list[tuple[int, str]]:
    """The characters of each passage that a window's tokens stand for."""
    return [
        (owner, passages[owner][left:right])
        for owner, (left, right) in zip(window.passages, window.tokens.offsets, strict=True)
        if owner >= 0
    ]


def test_short_evidence_is_one_window() -> None:
    passages = ["Paris: a city", "Rome: a town"]
    (window,) = windows(TOKENIZER, "Which city?", passages)
    assert told(window, passages) == [
        (0, "Paris"), (0, ":"), (0, "a"), (0, "city"), (1, "Rome"), (1, ":"), (1, "a"), (1, "town"),
    ]  # fmt: skip
    assert window.tokens.ids[0] == TOKENIZER.start
    assert window.tokens.ids[window.tokens.second - 1] == TOKENIZER.end
    assert window.tokens.ids.count(TOKENIZER.end) == 3


def test_passages_stay_whole_where_they_fit() -> None:
    passages = ["one two three four five six"] * 3
    cut = windows(TOKENIZER, "What?", passages, max_tokens=18)
    assert [sorted({owner for owner in window.passages if owner >= 0}) for window in cut] == [[0, 1], [2]]
    assert all(len(window.tokens) <= 18 for window in cut)


def test_a_long_passage_is_cut_into_overlapping_pieces() -> None:
    words = "one two three four five six seven eight nine ten".split()
    cut = windows(TOKENIZER, "What?", [" ".join(words)], max_tokens=11, stride=2)
    pieces = [[text for _, text in told(window, [" ".join(words)])] for window in cut]
    assert pieces == [words[:6], words[4:10]]


def test_nothing_to_read_is_still_a_window() -> None:
    nothing: list[list[str]] = [[], ["", "  "]]
    for passages in nothing:
        (window,) = windows(TOKENIZER, "What?", passages)
        assert set(window.passages) == {-1}


@settings(max_examples=60)
@given(
    st.text(max_size=80),
    st.lists(st.text(alphabet="ab c\u00e9.\U0001f600", max_size=80), max_size=4),
    st.integers(12, 40),
)
def test_every_window_fits_and_every_token_is_read(question: str, passages: list[str], max_tokens: int) -> None:
    cut = windows(TOKENIZER, question, passages, max_tokens=max_tokens, stride=4)
    assert all(len(window.tokens) <= max_tokens for window in cut)
    read = {(owner, span) for window in cut for owner, span in zip(window.passages, window.tokens.offsets, strict=True)}
    for owner, passage in enumerate(passages):
        offsets = TOKENIZER.fast.encode(passage, add_special_tokens=False).offsets
        assert all((owner, span) in read for span in offsets)


@pytest.mark.parametrize("length", [10, 1_000])
def test_a_long_question_leaves_room_for_the_evidence(length: int) -> None:
    (window,) = windows(TOKENIZER, "why " * length, ["Paris"], max_tokens=32)
    assert (0, "Paris") in told(window, ["Paris"])
