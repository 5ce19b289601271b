"""Each step's reply as models write it, and as hostile text writes it."""

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.rebel.protocol import (
    SubQuestion,
    parse_answer,
    parse_input,
    parse_split,
    parse_tool_number,
    parse_wording,
    parse_yes_no,
)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "1. Who wrote Emma, the novel?\n2. When was she born? (needs 1)",
            [SubQuestion("Who wrote Emma, the novel?", ()), SubQuestion("When was she born?", (1,))],
        ),
        ("Sure:\n\n1) Who?\n2) **Where?**", [SubQuestion("Who?", ()), SubQuestion("Where?", ())]),
        ("- Who?\n- How far is #1 from #2? needs 1 and 2", [("Who?", ()), ("How far is #1 from #2?", (1, 2))]),
        ('["Who, then?", "Where? (needs #1)"]', [("Who, then?", ()), ("Where?", (1,))]),
        ("<think>1. no</think>\n1. Who?", [("Who?", ())]),
        ("1. Who? (needs 1, 2, and 3)", [("Who?", (1, 2, 3))]),
        ("none", []),
        ("None.", []),
        ("No subquestions needed", []),
        ("1.\n2. ", []),
        ("1. What does she need?", [("What does she need?", ())]),
    ],
)
def test_a_numbered_split(reply: Any, expected: Any) -> None:
    assert parse_split(reply, form="numbered") == [SubQuestion(*item) for item in expected]


@pytest.mark.parametrize("reply", ["", "Who wrote Emma?", "[1, 2]", "[[[[", "2.5 metres"])
def test_what_is_no_numbered_split(reply: Any) -> None:
    with pytest.raises(UnusableReply, match="numbered list"):
        parse_split(reply, form="numbered")


def test_the_papers_commas_end_a_subquestion_only_after_its_question_mark() -> None:
    found = parse_split("Who wrote Emma, the novel?, When was she born? (needs 1)", form="commas")
    assert [item.text for item in found][:1] == ["Who wrote Emma, the novel?"]
    assert len(found) == 2
    with pytest.raises(UnusableReply):
        parse_split("Emma, the novel", form="commas")


@pytest.mark.parametrize(
    ("reply", "known"),
    [
        ("yes", True),
        ("Yes, it is in the memory.", True),
        ("**Yes**", True),
        ("Answer: yes", True),
        ("The answer is no.", False),
        ("No. It was yesterday, yes.", False),
        ("No ... yesterday", False),
        ("no", False),
    ],
)
def test_the_word_that_opens_the_reply_decides_the_memory_check(reply: Any, known: Any) -> None:
    assert parse_yes_no(reply) is known


@pytest.mark.parametrize("reply", ["", "yesterday", "Yes or no?", "yes/no", "maybe yes", "nope", "unknown"])
def test_a_memory_check_that_says_neither_is_unusable(reply: Any) -> None:
    with pytest.raises(UnusableReply):
        parse_yes_no(reply)


@pytest.mark.parametrize(
    ("reply", "number"), [("2", 2), ("Tool 2", 2), ("tool 2.", 2), ("0", 0), ("Tool 1, tool 1", 1)]
)
def test_a_tools_number(reply: Any, number: Any) -> None:
    assert parse_tool_number(reply, count=2) == number


@pytest.mark.parametrize("reply", ["Tool 1 or 2", "none", "", "15", "3", "1.5", "-1", "12345678", "tool one", "²"])
def test_a_number_that_no_one_tool_has_is_unusable(reply: Any) -> None:
    with pytest.raises(UnusableReply):
        parse_tool_number(reply, count=2)


def test_the_first_object_of_a_reply_is_the_input_however_deep() -> None:
    assert parse_input('Here: {"a": [[1, [2]], {"b": null}]} and {"c": 1}') == {"a": [[1, [2]], {"b": None}]}
    assert parse_input('```json\n{"q": "x"}\n```') == {"q": "x"}


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[1]",
        "{",
        "{'q': 1}",
        '{"q": NaN}',
        '{"q": 99999999999999999999}',
        '{"q": "\\ud800"}',
        "{" * 50_000,
        '{"a":' * 5_000,
    ],
)
def test_what_is_no_input(reply: Any) -> None:
    with pytest.raises(UnusableReply):
        parse_input(reply)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: Jane Austen", "Jane Austen"),
        ("Final answer: 12 degrees", "12 degrees"),
        ("The answer is: €", "€"),
        ("unknown", ""),
        ("Nothing was found.", ""),
        ("nothing found", ""),
        ("Unknown.", ""),
        ("I don't know that.", ""),
        ("Not enough information is given.", ""),
        ("no", "no"),
        ("Unknown Pleasures", "Unknown Pleasures"),
        ("two\nlines", "two lines"),
    ],
)
def test_an_answer_and_what_says_that_there_is_none(reply: Any, answer: Any) -> None:
    assert parse_answer(reply) == answer


def test_a_wording_is_one_question_without_references() -> None:
    assert parse_wording("Subquestion: Where was Jane Austen born?\nBecause ...") == "Where was Jane Austen born?"
    for reply in ("", "Where was #1 born?"):
        with pytest.raises(UnusableReply):
            parse_wording(reply)


PARSERS = [
    lambda reply: parse_split(reply, form="numbered"),
    lambda reply: parse_split(reply, form="commas"),
    parse_yes_no,
    lambda reply: parse_tool_number(reply, count=3),
    parse_input,
    parse_answer,
    parse_wording,
]


@given(st.text(), st.sampled_from(PARSERS))
def test_no_text_breaks_a_parser(text: Any, parser: Any) -> None:
    with suppress(UnusableReply):
        parser(text)


@given(st.text(alphabet='{}[]":,19 aneds#()?.\n', max_size=200), st.sampled_from(PARSERS))
def test_no_text_of_the_protocols_own_characters_breaks_a_parser(text: Any, parser: Any) -> None:
    with suppress(UnusableReply):
        parser(text)


def test_a_long_hostile_reply_is_read_quickly() -> None:
    rng = random.Random(3)
    text = "".join(rng.choice(" 1.#needs()\n-*") for _ in range(50_000))
    for parser in PARSERS:
        with suppress(UnusableReply):
            parser(text)
