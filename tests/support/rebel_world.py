"""A small world for REBEL's tests: a script keyed by step and question, tools over a table, words as features."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_evidence.llm.prompt import PromptCall
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.rebel import RebelSettings, create_rebel

STEPS = {
    "rebel.split": "split",
    "rebel.split_commas": "split",
    "rebel.word": "rewrite",
    "rebel.recall": "recall",
    "rebel.recall_facts": "recall",
    "rebel.pick_tool": "pick_tool",
    "rebel.tool_input": "tool_input",
    "rebel.answer": "answer",
    "rebel.answer_facts": "answer",
    "rebel.answer_reply": "answer",
}
ANY = Asks("rebel.*")


def asks(step: str, question: str = "") -> Asks:
    """Matches a step, about a question that holds these words."""
    return Asks("rebel.*", lambda call: STEPS[call.name] == step and question in call.values["question"])


Replies = Mapping[str, str | Callable[[PromptCall], str]]


def scripted(
    splits: Mapping[str, str] | None = None,
    *,
    recalls: Replies | None = None,
    answers: Replies | None = None,
    **more: Any,
) -> ScriptedChat:
    """A model that splits by a table, knows what `recalls` says, and reads a tool's reply back as the answer.

    Args:
        splits: The reply to a split by question; `none` for any other.
        recalls: The reply to a memory check by question; `no` for any other.
        answers: The answer by question; for any other what the tool returned, or the last answer of the memory.
        **more: `picks`, `inputs`, `words` by question, and fields of ScriptedChat.
    """
    tables: dict[str, Replies] = {
        "split": splits or {},
        "recall": recalls or {},
        "answer": answers or {},
        "pick_tool": more.pop("picks", {}),
        "tool_input": more.pop("inputs", {}),
        "rewrite": more.pop("words", {}),
    }

    def reply(call: PromptCall, _seed: int) -> str:
        step, question = STEPS[call.name], call.values["question"]
        found = tables[step].get(question)
        if found is not None:
            return found if isinstance(found, str) else found(call)
        return _usual(step, question, call.values)

    return ScriptedChat(**{"rules": [(ANY, reply)], **more})


def _usual(step: str, question: str, values: Mapping[str, Any]) -> str:
    if step == "answer":
        memory = values["memory"]
        return str(values.get("reply") or (memory[-1]["answer"] if memory else "unknown"))
    usual = {"split": "none", "recall": "no", "pick_tool": "1", "rewrite": question}
    return usual.get(step, '{"query": "' + question.replace('"', "'") + '"}')


def splitting(**fields: Any) -> ScriptedChat:
    """A model that splits every question in two and knows every answer."""

    def reply(call: PromptCall, _seed: int) -> str:
        step, question = STEPS[call.name], call.values["question"][:-1]
        split = f"1. Is {question} left?\n2. Is {question} right?"
        return {"split": split, "recall": "yes", "answer": "so"}[step]

    return scripted(**{"rules": [(ANY, reply)], **fields})


class Table:
    """Replies by question; it records what it was asked, and how many at the same time."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self.rows, self.asked = dict(rows), list[str]()
        self._lock = threading.Lock()

    def look_up(self, query: str) -> str:
        with self._lock:
            self.asked.append(query)
        return self.rows.get(query, "unknown")

    def tool(self, name: str = "lookup", **fields: Any) -> BaseTool:
        return StructuredTool.from_function(
            self.look_up, name=name, description=f"Looks things up in {name}.", **fields
        )


def word_features(texts: Any) -> Any:
    """Counts of words, hashed into a few hundred places."""
    vectors = np.zeros((len(texts), 512), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            vectors[row, sum(map(ord, word)) * 31 % 512] += 1
    return vectors


def build(model: Any, tools: Any = (), **values: Any) -> Any:
    """The graph over words as features."""
    return create_rebel(model, list(tools), settings=RebelSettings(**values), features=word_features)


# Three levels of questions, each answered by another tool.
ROOT = "How warm is it where the author of Emma was born?"
SPLITS = {
    ROOT: "1. Where was the author of Emma born?\n2. How warm is it in #1? (needs 1)",
    "Where was the author of Emma born?": "1. Who wrote Emma?\n2. Where was #1 born? (needs 1)",
}
FACTS = {
    "Who wrote Emma?": "Jane Austen",
    "Where was Jane Austen born?": "Steventon",
    "How warm is it in Steventon?": "12 degrees",
}
