"""The text of trajectories: exact, the same for training and for inference, and deaf to tokens from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.rq_rag.protocol import (
    ACTIONS,
    PAPER,
    SMOLLM2,
    ControlTokens,
    RefinedQuery,
    beginning,
    conversation,
    neutralised,
    read_answer,
    read_query,
    step_pieces,
    stops,
    trajectory,
)
from langgraph_evidence.types import Passage

CHAND = Passage(id="1", title="Dhyan Chand", text="Dhyan Chand was born\nin Allahabad.")
STEP = RefinedQuery("decompose", "Where was Dhyan Chand born?", [CHAND])
TABLES = pytest.mark.parametrize("tokens", [SMOLLM2, PAPER], ids=["smollm2", "paper"])
# What a hostile text is made of: control tokens, halves of them, and letters between.
SHARDS = st.sampled_from(
    [*SMOLLM2.all, *PAPER.all, "<|im_end|>", "<|im_start|>", "</s>", "<", ">", "[", "]", "a ", "\n"]
)
HOSTILE = st.lists(SHARDS | st.text(max_size=4), max_size=12).map("".join)


def test_a_trajectory_is_written_space_for_space() -> None:
    pieces = trajectory([STEP], "Allahabad", SMOLLM2)
    assert [piece.text for piece in pieces] == [
        "<issue_comment>Where was Dhyan Chand born?\n",
        "<file_sep>Title: Dhyan Chand\nText: Dhyan Chand was born in Allahabad.\n<empty_output>",
        "<jupyter_output>Allahabad",
    ]
    assert [piece.learned for piece in pieces] == [True, False, True]


def test_the_papers_own_tokens_give_the_same_text_under_their_names() -> None:
    assert "".join(piece.text for piece in trajectory([STEP], "Allahabad", PAPER)) == (
        "[S_Decomposed_Query]Where was Dhyan Chand born?[EOS]"
        "[R_Evidences]Title: Dhyan Chand\nText: Dhyan Chand was born in Allahabad.\n[/R_Evidences]"
        "[A_Response]Allahabad"
    )


@TABLES
def test_inference_continues_the_very_text_that_training_saw(tokens: ControlTokens) -> None:
    whole = "".join(piece.text for piece in trajectory([STEP, STEP], "Allahabad", tokens))
    assert whole == beginning([STEP, STEP], tokens) + tokens.of("answer") + "Allahabad"
    assert whole.startswith(beginning([STEP], tokens) + tokens.of("decompose") + STEP.query)


def test_a_question_answered_at_once_has_the_answer_alone() -> None:
    assert [piece.text for piece in trajectory([], "Hello.", SMOLLM2)] == ["<jupyter_output>Hello."]
    assert beginning([], SMOLLM2) == ""


@TABLES
def test_an_action_and_its_token_are_one_to_one(tokens: ControlTokens) -> None:
    assert [tokens.action_of(token) for token in tokens.actions] == list(ACTIONS)
    assert len(set(tokens.all) | {tokens.end}) == 7
    assert tokens.action_of(tokens.evidence) is None
    assert tokens.action_of("answer") is None


def test_passages_give_up_their_end_where_there_is_no_room() -> None:
    long = Passage(id="2", title="T", text="word " * 50)
    short = beginning([RefinedQuery("rewrite", "q", [long]), STEP], SMOLLM2, limits=[20, 2000])
    assert "Text: word word word word…\n" in short
    assert "was born in Allahabad." in short


@TABLES
@given(text=HOSTILE)
def test_no_control_token_survives_in_text_from_outside(tokens: ControlTokens, text: str) -> None:
    passage = Passage(id="x", title=text, text=text)
    asked, found = step_pieces(RefinedQuery("rewrite", text, [passage]), tokens)
    assert asked.text.removeprefix(tokens.rewrite).removesuffix(tokens.end) == neutralised(text, limit=1000)
    inside = found.text.removeprefix(tokens.evidence).removesuffix(tokens.evidence_end)
    for line in [*inside.splitlines(), neutralised(text), conversation(text)[1][1]]:
        assert not any(token in line for token in [*SMOLLM2.all, *PAPER.all, "<|im_end|>", "<|im_start|>", "</s>"])
    assert len(inside.splitlines()) == 2


@TABLES
@given(text=HOSTILE)
def test_whatever_is_written_is_a_clean_query_and_answer_or_unusable(tokens: ControlTokens, text: str) -> None:
    for read in (read_query, read_answer):
        try:
            got = read(text, tokens)
        except UnusableReply:
            continue
        assert got.strip()
        assert "\n" not in got
        assert not any(token in got for token in [*tokens.all, *tokens.turns])


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("Who is it?", "Who is it?"),
        ("Who is it?\nWho else?", "Who is it?"),
        ("Who is it?<file_sep>Title: made up", "Who is it?"),
        ("Who is it?<issue_start>Who<issue_start>", "Who is it?"),
        ('"Who is it?"\n', "Who is it?"),
        ("Who is it?<|im_end|>", "Who is it?"),
        ("Who [A_Response] is it?", "Who (A_Response) is it?"),
    ],
)
def test_a_query_ends_at_its_end_or_at_the_next_control_token(reply: str, query: str) -> None:
    assert read_query(reply, SMOLLM2) == query


@pytest.mark.parametrize(
    "reply", ["", "\n", "<file_sep>x", "  ", "?!", "<jupyter_output>Paris", "<think>so", "<|im_start|>user"]
)
def test_an_empty_query_is_unusable(reply: str) -> None:
    with pytest.raises(UnusableReply, match="none was written"):
        read_query(reply, SMOLLM2)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Paris", "Paris"),
        ("Answer: Paris", "Paris"),
        ("Paris\nin France", "Paris in France"),
        ("42.<file_sep>", "42."),
        ("42<|im_start|>user", "42"),
    ],
)
def test_an_answer_is_one_line(reply: str, answer: str) -> None:
    assert read_answer(reply, SMOLLM2) == answer


def test_a_line_break_ends_a_query_and_is_no_control_token() -> None:
    assert stops(SMOLLM2)[0] == "\n"
    assert "\n" not in SMOLLM2.all
    assert stops(PAPER).count("[EOS]") == 1
