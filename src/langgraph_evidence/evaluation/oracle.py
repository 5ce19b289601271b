"""A scripted model and a tool that know the gold steps of the questions: with them a harness must score 100%."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool

from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.llm.prompt import PromptCall


def oracle_tool(questions: Iterable[Question]) -> BaseTool:
    """A tool that answers every step of the questions' gold decompositions, and nothing else."""
    answers = {quote(step.question): step.answer for question in questions for step in question.steps}

    def look_up(query: str) -> str:
        return answers.get(query, "unknown")

    return StructuredTool.from_function(look_up, name="oracle", description="Knows the answers of the data set.")


def oracle_model(questions: Iterable[Question]) -> ScriptedChat:
    """A model that splits each question as its gold decomposition does, and answers from what it is shown."""
    splits = {
        quote(question.question): "\n".join(
            f"{n}. {step.question}" + (f" (needs {n - 1})" if n > 1 else "")
            for n, step in enumerate(question.steps, start=1)
        )
        for question in questions
    }

    def answer(call: PromptCall, _seed: int) -> str:
        memory = call.values["memory"]
        return str(call.values.get("reply") or (memory[-1]["answer"] if memory else "unknown"))

    rules: list[tuple[Asks, Any]] = [
        (Asks("rebel.split*"), lambda call, _: splits.get(call.values["question"], "none")),
        (Asks("rebel.recall*"), lambda call, _: "yes" if call.values["question"] in splits else "no"),
        (Asks("rebel.tool_input"), lambda call, _: json.dumps({"query": call.values["question"]})),
        (Asks("rebel.answer*"), answer),
    ]
    return ScriptedChat(rules=rules)
