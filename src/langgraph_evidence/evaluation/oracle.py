"""A scripted model and a tool that know the gold steps of the questions: with them a harness must score 100%."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool

from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langgraph_evidence.evaluation.question import Question

_SPLIT = re.compile(r"\nQ=([^\n]*)\n")
_ASKED = re.compile(r'\n(?:Q: "?|<Q>)([^\n]*?)(?:" Is the answer[^\n]*|</Q>)?(?=\n|\Z)')
_RETURNED = re.compile(r"An API call about Q returned:\n(.*)\nQ: ")
_ANSWERS = re.compile(r" A: (.*)$", re.MULTILINE)


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

    def reply(text: str, _seed: int) -> str:
        if text.startswith("You split"):
            return splits.get(_SPLIT.findall(text)[-1], "none")
        asked = _ASKED.findall(text)[-1]
        if text.startswith("You check"):
            return "yes" if asked in splits else "no"
        if text.startswith("You write"):
            return json.dumps({"query": asked})
        returned = _RETURNED.search(text)
        known = _ANSWERS.findall(text)
        return returned[1] if returned else known[-1] if known else "unknown"

    return ScriptedChat(rules=[("", reply)])
