"""Replies are read tolerantly and never guessed at."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.llm.parse import clean, tagged_lines

TAGS = ("[Analysis]", "[Search]", "[Answer]")
TEXTS = st.text() | st.text(alphabet='<>/thinkTHINK`~"“”\ufeff \n[]Search*#1.')


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>hm</think>\n[Answer] x", "[Answer] x"),
        ("hm, so </think> [Answer] x", "[Answer] x"),
        ("lead <think>a</think> and still </think>[Answer] x", "[Answer] x"),
        ("<think>never ends [Answer] x", ""),
        ("[Answer] x <THINK>was that right?", "[Answer] x"),
        ("<think>one <think> in it</think>a<thinking>b</thinking>c", "ac"),
        ("```text\n[Answer] x\n```", "[Answer] x"),
        ('\ufeff"[Answer] x"', "[Answer] x"),
        ("“x”", "x"),
        ('"a" and "b"', '"a" and "b"'),
        ("", ""),
    ],
)
def test_clean_by_hand(reply: Any, text: Any) -> None:
    assert clean(reply) == text


@pytest.mark.parametrize(
    "reply",
    [
        "[Analysis] a\n[Search] b",
        "[analysis]a\n\n  [ SEARCH ]  b  ",
        "1. [Analysis]: a\n2) [Search]: b",
        "- **[Analysis]** a\n- **[Search]** b",
        "**[Analysis]: a**\n> ### [Search] `b`",
        "Sure!\n(1) [Analysis] a\n(2) __[Search]__ b",
    ],
)
def test_tags_in_every_dress(reply: Any) -> None:
    assert tagged_lines(reply, TAGS) == [("[Analysis]", "a"), ("[Search]", "b")]


@pytest.mark.parametrize("reply", ["x [Search] b", "Search: b", "[Searching] b", "[Search b", "", "[Look] b"])
def test_what_is_no_tag_is_not_guessed(reply: Any) -> None:
    assert tagged_lines(reply, TAGS) == []


def test_sections_keep_their_order_and_lines() -> None:
    reply = "[Search] one\ntwo\n[Answer] three\n[Search]"
    assert tagged_lines(reply, TAGS) == [("[Search]", "one\ntwo"), ("[Answer]", "three"), ("[Search]", "")]


def test_a_word_tag_is_a_whole_word() -> None:
    assert tagged_lines("Yesterday\nYes, it is", ("Yes",)) == [("Yes", ", it is")]


@given(TEXTS)
def test_clean_never_fails_and_leaves_no_whole_thought(reply: Any) -> None:
    text = clean(reply)
    assert text == text.strip()
    assert "<think>" not in text
    assert "</think>" not in text


@given(TEXTS)
def test_sections_hold_only_what_the_reply_says(reply: Any) -> None:
    for tag, text in tagged_lines(reply, TAGS):
        assert tag in TAGS
        assert all(line.strip(" *`") in reply for line in text.split("\n"))


@pytest.mark.parametrize("unit", ["<think>", "</think>", "* ", "1. ", "[Search", "[", "\n", "```\n", '"', "Question:"])
def test_a_hostile_reply_is_read_in_linear_time(unit: Any) -> None:
    started = time.perf_counter()
    tagged_lines(clean(unit * 50_000), TAGS)
    assert time.perf_counter() - started < 5
