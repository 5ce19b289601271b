"""A small world for REBEL's tests: a script keyed by step and question, tools over a table, words as features."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.rebel import RebelSettings, create_rebel

STEPS = {
    "You split questions": "split",
    "You word a subquestion": "rewrite",
    "You check a memory": "recall",
    "You pick a tool": "pick_tool",
    "You write the input": "tool_input",
    "You answer a question": "answer",
}
_QUESTION = (
    r"\nQ=(?P<split>[^\n]*)\nLook at",
    r"\nSubquestion: (?P<rewrite>[^\n]*)",
    r'\nQ: "(?P<recall>[^\n]*)" Is the answer',
    r"<Q>(?P<tool_input>[^\n]*)</Q>",
    r"\nQ: (?P<other>[^\n]*)\n(?:Which tool|ANSWER Q|Using this)",
)


def step_of(text: str) -> str:
    """Which step a prompt belongs to."""
    return next(step for head, step in STEPS.items() if text.startswith(head))


def question_of(text: str) -> str:
    """The question that a prompt asks about: that of its last turn."""
    found = [list(re.finditer(pattern, text)) for pattern in _QUESTION]
    last = max((matches[-1] for matches in found if matches), key=lambda match: match.start())
    return next(value for value in last.groupdict().values() if value is not None)


def memory_of(text: str) -> str:
    """The memory that the last turn shows."""
    marks = {"<MEM>\n": "\n</MEM>", "Memory:\n": "\n"}
    start, mark = max((text.rfind(mark), mark) for mark in marks)
    rest = text[start + len(mark) :]
    lines = rest.split("\n")
    return "\n".join(line for line in lines if line.startswith("Q: ") and " A: " in line)


Replies = Mapping[str, str | Callable[[str], str]]


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

    def reply(text: str, _seed: int) -> str:
        step, question = step_of(text), question_of(text)
        found = tables[step].get(question)
        if found is not None:
            return found if isinstance(found, str) else found(text)
        return _usual(step, question, text)

    return ScriptedChat(**{"rules": [("", reply)], **more})


def _usual(step: str, question: str, text: str) -> str:
    if step == "answer":
        returned = re.search(r"An API call about Q returned:\n(.*)\nQ: ", text)
        memory = re.findall(r" A: (.*)", memory_of(text))
        return returned[1] if returned else memory[-1] if memory else "unknown"
    usual = {"split": "none", "recall": "no", "pick_tool": "1", "rewrite": question}
    return usual.get(step, '{"query": "' + question.replace('"', "'") + '"}')


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
