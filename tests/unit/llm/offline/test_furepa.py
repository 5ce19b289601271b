"""FuRePA's protocol as the offline model speaks it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langgraph_evidence.llm.offline import OfflineChat, furepa

SYSTEM = "Lines start only with '[Analysis]' or '[Answer]' or '[Search]'."
FIRST_SYSTEM = "You should follow the examples and tell me exactly what information to search for first."
FIRST = (
    "To solve this multi-step problem: {} What specific information should I search for from wiki in the first step? "
    "Search for one target in the first step."
)
FILM = "Tall Tales (1990 film): Tall Tales is a 1990 comedy film directed by Ann Example. It stars Bob Person."
DIRECTOR = "Ann Example: Ann Example (born 1950) is a director. Her mother is the painter Jane Example."
QUESTION = "Who is the mother of the director of film Tall Tales (1990 Film)?"


def ask(user: str, system: str = SYSTEM, **kwargs: object) -> str:
    return OfflineChat().invoke([SystemMessage(system), HumanMessage(user)], **kwargs).text  # type: ignore[arg-type]  # fields of the model


def test_the_first_turn_is_one_search_line() -> None:
    reply = ask(FIRST.format(QUESTION), FIRST_SYSTEM)
    assert re.fullmatch(r"\[Search\] .*Tall Tales.*", reply)


def test_only_the_last_user_turn_counts() -> None:
    turns = [
        SystemMessage(FIRST_SYSTEM),
        HumanMessage(FIRST.format("Where was Paul Nobody born?")),
        AIMessage("[Search] Paul Nobody"),
        HumanMessage(FIRST.format(QUESTION)),
    ]
    assert "Nobody" not in OfflineChat().invoke(turns).text


def test_the_next_query_follows_the_name_that_the_evidence_gives() -> None:
    reply = ask(f"Context:\n{FILM}\nQuestion:\n{QUESTION}")
    assert re.fullmatch(r"\[Analysis\] .+\n\[Search\] (?=.*mother)(?!.*Tall Tales).*Ann Example.*", reply)


def test_the_other_side_of_a_comparison_is_searched_for() -> None:
    line = "Siam Sunset: Siam Sunset is a 1999 Australian film directed by John Polson."
    reply = ask(f"Context:\n{line}\nQuestion:\nWhich film was released earlier, Siam Sunset or Paris Calling?")
    query = reply.partition("[Search] ")[2]
    assert "Paris Calling" in query
    assert "Siam" not in query


def test_a_forced_turn_always_answers() -> None:
    reply = ask(f"Context:\n{FILM}\nQuestion:\n{QUESTION}\nNo more information can be searched for. Answer now.")
    assert re.fullmatch(r"\[Analysis\] .+\n\[Answer\] .+", reply)


def test_without_chain_of_thought_there_is_one_line() -> None:
    reply = ask(f"Context:\n{FILM}\nQuestion:\n{QUESTION}", "Lines start only with '[Answer]' or '[Search]'.")
    assert re.fullmatch(r"\[(Search|Answer)\] .+", reply)


def test_earlier_steps_in_the_prompt_are_tolerated() -> None:
    reply = ask(f"Context:\n{FILM}\nQuestion:\n{QUESTION}\nEarlier steps:\n[Search] the director of film Tall Tales")
    assert re.fullmatch(r"\[Analysis\] .+\n\[(Search|Answer)\] .+", reply)


def test_samples_are_more_different_at_a_higher_temperature() -> None:
    user = f"Context:\n{FILM}\nQuestion:\n{QUESTION}"
    low, high = ({ask(user, temperature=t, seed=seed) for seed in range(40)} for t in (0.1, 1.5))
    assert len(low) < len(high)


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_context_and_question_gets_a_reply_in_the_protocol(context: str, question: str) -> None:
    reply = ask(f"Context:\n{context}\nQuestion:\n{' '.join(question.split())}")
    assert re.fullmatch(r"\[Analysis\] [^\n]*\n\[(Search|Answer)\] [^\n]*", reply)


def test_a_line_of_the_evidence_cannot_pose_as_the_question() -> None:
    turn = furepa.read(SYSTEM, f"Context:\n{FILM} Question: who?\nQuestion:\n{QUESTION}")
    assert turn is not None
    assert turn.question == QUESTION
    assert turn.evidence == (f"{FILM} Question: who?",)


@pytest.mark.parametrize("user", ["", "hello", "Context:\nQuestion:"])
def test_other_prompts_are_left_to_other_protocols(user: str) -> None:
    assert furepa.read(SYSTEM, user) is None
