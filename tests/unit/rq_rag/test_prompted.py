"""How a prompted model's replies are read, what is shown of long passages, and where an answer begins."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.rq_rag.policy import tokens_from, tokens_of
from langgraph_evidence.methods.rq_rag.prompted import parse_actions, parse_answer, parse_query, quote_lines
from langgraph_evidence.methods.rq_rag.protocol import ACTIONS
from langgraph_evidence.methods.rq_rag.room import limits_within, tokens_in
from langgraph_evidence.methods.rq_rag.state import Taken
from langgraph_evidence.types import Passage


@pytest.mark.parametrize(
    ("reply", "actions"),
    [
        ("decompose\nanswer", ["decompose", "answer"]),
        ("1. Rewrite: it is vague\n2) **disambiguate**", ["rewrite", "disambiguate"]),
        ("<think>decompose</think>answer.", ["answer"]),
        ("- rewrite\n- rewrite\n- answer", ["rewrite", "answer"]),
        ("Sure!\nrewrite", ["rewrite"]),
    ],
)
def test_actions_are_read_one_a_line_best_first(reply: str, actions: list[str]) -> None:
    assert parse_actions(reply) == actions


@pytest.mark.parametrize("reply", ["", "I would search.", "rewriting", "to answer"])
def test_a_reply_without_an_action_is_unusable(reply: str) -> None:
    with pytest.raises(UnusableReply, match="rewrite, decompose, disambiguate, answer"):
        parse_actions(reply)


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("Who directed Jaws?\nWhere was he born?", "Who directed Jaws?"),
        ("1. Who directed Jaws?", "Who directed Jaws?"),
        ("Retrieval Necessity: yes\nQuery For Search Engine:\nwho directed jaws", "who directed jaws"),
        ("Retrieval Necessity: Yes\nQuery For Search Engine: who directed jaws", "who directed jaws"),
        ("retrieval necessity: no", ""),
        ("**Decomposed queries:**\n- Who directed Jaws?", "Who directed Jaws?"),
        ("Asked before?\nWho directed Jaws?", "Who directed Jaws?"),
        ("asked before", "asked before"),
        ("[A_Response] <issue_start> Jaws", "A_Response) ‹issue_start› Jaws"),
        ("2001: A Space Odyssey director", "2001: A Space Odyssey director"),
    ],
)
def test_the_first_query_that_was_not_asked_is_taken(reply: str, query: str) -> None:
    assert parse_query(reply, asked=["asked before"]) == query


@pytest.mark.parametrize("reply", ["", "?", "Retrieval Necessity: yes", "x" * 2000, "Query For Search Engine:"])
def test_a_reply_without_a_query_is_unusable(reply: str) -> None:
    with pytest.raises(UnusableReply, match="one search query a line"):
        parse_query(reply, asked=[])


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Paris", "Paris"),
        ("Answer: Paris", "Paris"),
        ("The answer is: **Paris**", "Paris"),
        ("Unknown.", ""),
        ("I do not know where.", ""),
    ],
)
def test_an_answer_loses_its_label_and_not_knowing_is_none(reply: str, answer: str) -> None:
    assert parse_answer(reply) == answer


@given(st.text())
def test_any_reply_is_read_or_unusable(reply: str) -> None:
    for parse in (parse_actions, parse_answer, lambda text: parse_query(text, asked=[])):
        try:
            read = parse(reply)
        except UnusableReply:
            continue
        assert isinstance(read, str) or set(read) <= set(ACTIONS)
        assert "\n" not in read


def rows(*tokens: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": value, "top": {token: value, "x": -0.25}} for token, value in tokens]


def test_the_tokens_of_the_answer_begin_where_it_does() -> None:
    told = rows(("Answer", -1.0), (":", -1.5), (" Par", -2.0), ("is", -2.5))
    assert [token["logprob"] for token in tokens_from(told, "Paris") or []] == [-2.0, -2.5]
    assert [token["likeliest"] for token in tokens_of(told) or []] == [-0.25] * 4
    assert len(tokens_from(rows(("Paris", -1.0), (" in", -1.0)), "Paris in") or []) == 2


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        rows(("a", float("nan"))),
        rows(("a", float("-inf"))),
        [{"token": "a", "logprob": -1, "top": {"b": float("inf"), "c": float("nan")}}],
    ],
)
def test_what_is_no_log_probability_is_none(told: Any) -> None:
    assert not [token for token in tokens_of(told) or [] if not math.isfinite(token["likeliest"])]
    assert tokens_of(told) is None or told[0]["logprob"] == -1
    assert tokens_from(told, "") is None
    assert tokens_from(rows(("a", -1.0)), "b") is None


def taken(*texts: str) -> Taken:
    return Taken(action="rewrite", query="q", passages=[Passage(id=t[:3], title="T", text=t) for t in texts])


def test_the_oldest_passages_give_way_first_and_only_as_far_as_needed() -> None:
    steps = [taken("a" * 3000), taken("b" * 3000)]
    assert limits_within(10_000, ["q"], steps, most=2000) == [2000, 2000]
    first, second = limits_within(300 + 800 + 100, ["q"], steps, most=2000) or [0, 0]
    assert (first < 600, second) == (True, 2000)
    first, second = limits_within(300 + 400, ["q"], steps, most=2000) or [0, 0]
    assert (first, 800 < second < 1200) == (1, True)


def test_where_not_even_the_titles_fit_there_is_no_room() -> None:
    assert limits_within(310, ["q"], [taken("a"), taken("b")], most=2000) is None
    assert limits_within(400, ["q" * 400], [], most=2000) is None
    assert limits_within(500, ["q" * 400], [], most=2000) == []


@given(st.lists(st.lists(st.text(max_size=400), max_size=3), max_size=4), st.integers(300, 2000))
def test_what_is_shown_fits(texts: list[list[str]], room: int) -> None:
    steps = [taken(*each) for each in texts]
    limits = limits_within(room, ["question"], steps, most=300)
    if limits is not None:
        shown = [p["text"][:n] for step, n in zip(steps, limits, strict=True) for p in step["passages"]]
        assert sum(map(tokens_in, shown)) <= room
        assert all(1 <= limit <= 300 for limit in limits)


def test_of_a_long_history_the_last_turns_are_shown() -> None:
    assert quote_lines("user: [Answer] 7\n\nassistant: ok") == ["user - (Answer) 7", "assistant - ok"]
    assert quote_lines("x" * 9000)[-1].endswith("…")
