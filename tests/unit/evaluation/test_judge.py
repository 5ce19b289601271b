from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.evaluation.judge import judge_answers, parse_verdict
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.runner import outcome_of
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat


@pytest.mark.parametrize(("reply", "verdict"), [("Yes", True), (" **no**, Yes", False), ("YES. It does", True)])
def test_the_first_word_decides(reply: str, verdict: bool) -> None:
    assert parse_verdict(reply) is verdict


@pytest.mark.parametrize("reply", ["", "Maybe yes", "Yesterday", "The answer is Yes", "1"])
def test_another_first_word_is_no_verdict(reply: str) -> None:
    with pytest.raises(UnusableReply):
        parse_verdict(reply)


async def test_what_cannot_be_read_is_counted_and_is_no_yes() -> None:
    says = {"right": "Yes", "wrong": "No", "odd": "Perhaps, yes"}
    chat = ScriptedChat(rules=[(Asks("judge"), lambda call, _: says[call.values["prediction"]])])
    texts = ["right", "wrong", "odd", " "]
    questions = [Question(id=text, question="Q?", answers=("a", "b"), dataset="hotpotqa") for text in texts]
    outcomes = [outcome_of(question, {"answer": question.id}, seconds=0.0) for question in questions]
    verdicts = await judge_answers(LanguageModel(chat), questions, outcomes)
    assert verdicts.by_question == {"right": True, "wrong": False, "odd": None, " ": False}
    assert (verdicts.accuracy, [*verdicts.by_question.values()].count(None)) == (0.25, 1)
    assert {call["prompt"].values["answer"] for call in chat.calls} == {"a; b"}
    assert verdicts.usage["calls"] == 4  # the odd one was asked twice, the empty one never


@pytest.mark.parametrize(("given", "sent"), [({}, 0.0), ({"temperature": 0.3}, 0.3), ({"temperature": None}, None)])
async def test_the_judge_is_asked_at_the_temperature_that_is_given(given: Any, sent: Any) -> None:
    chat = ScriptedChat(rules=[(Asks("judge"), "Yes")])
    question = Question(id="q", question="Q?", answers=("a",), dataset="hotpotqa")
    outcome = outcome_of(question, {"answer": "a"}, seconds=0.0)
    await judge_answers(LanguageModel(chat), [question], [outcome], **given)
    assert [call["kwargs"].get("temperature") for call in chat.calls] == [sent]
