"""What a REBEL run tells while it runs: custom events, one TypedDict each; `docs/events.md` is generated from here."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from langgraph_evidence import events
from langgraph_evidence.methods.rebel.state import Fact, Node
from langgraph_evidence.types import Citation, Passage, Stopped, Usage


class Split(TypedDict):
    """`rebel.split`: the sub-questions of a question by id, and those dropped because they ask the same again."""

    id: str
    question: str
    subquestions: dict[str, str]
    dropped: list[str]


class Recall(TypedDict):
    """`rebel.recall`: what the memory check said, and how many facts it saw."""

    id: str
    question: str
    known: bool
    facts: int


class Call(TypedDict):
    """`rebel.call`: a tool is about to be used with these arguments."""

    id: str
    question: str
    tool: str
    arguments: dict[str, Any]


class Reply(TypedDict):
    """`rebel.reply`: what a tool replied, or why it did not; a search also tells its passages."""

    id: str
    tool: str
    text: str
    passages: list[Passage]
    error: str


class Learned(TypedDict):
    """`rebel.fact`: a question is answered, or has failed."""

    fact: Fact


class Answer(TypedDict):
    """`rebel.answer`: how the run ended, with the tree of its questions."""

    answer: str
    citations: list[Citation]
    stopped: Stopped
    usage: Usage
    tree: dict[str, Node]


SCHEMAS: dict[str, type] = {
    "rebel.split": Split,
    "rebel.recall": Recall,
    "rebel.call": Call,
    "rebel.reply": Reply,
    "rebel.fact": Learned,
    "rebel.answer": Answer,
}
"""The payload of every event, beside `type` and `v`."""


def split(payload: Split) -> None:
    """Sends `rebel.split`."""
    events.emit("rebel.split", payload)


def recall(payload: Recall) -> None:
    """Sends `rebel.recall`."""
    events.emit("rebel.recall", payload)


def call(payload: Call) -> None:
    """Sends `rebel.call`."""
    events.emit("rebel.call", payload)


def reply(payload: Reply) -> None:
    """Sends `rebel.reply`."""
    events.emit("rebel.reply", payload)


def fact(payload: Learned) -> None:
    """Sends `rebel.fact`."""
    events.emit("rebel.fact", payload)


def answer(payload: Answer) -> None:
    """Sends `rebel.answer`."""
    events.emit("rebel.answer", payload)
