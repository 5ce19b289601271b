"""What a REBEL run tells while it runs: custom events, one TypedDict each; `docs/events.md` is generated from here."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from langgraph_evidence.events import Event, schemas
from langgraph_evidence.methods.rebel.state import Fact, Node
from langgraph_evidence.run import Answered
from langgraph_evidence.types import Passage


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


class Replied(TypedDict):
    """`rebel.reply`: what a tool replied, or why it did not; a search also tells its passages."""

    id: str
    tool: str
    text: str
    passages: list[Passage]
    error: str


class Learned(TypedDict):
    """`rebel.fact`: a question is answered, or has failed."""

    fact: Fact


class Answer(Answered):
    """`rebel.answer`: how the run ended, with the tree of its questions."""

    tree: dict[str, Node]


class Doubt(TypedDict):
    """`rebel.doubt`: the answer to the question itself is not supported by what was found; a tool is asked as well."""

    answer: str
    why: str


split = Event("rebel.split", Split)
recall = Event("rebel.recall", Recall)
call = Event("rebel.call", Call)
reply = Event("rebel.reply", Replied)
fact = Event("rebel.fact", Learned)
doubt = Event("rebel.doubt", Doubt)
answer = Event("rebel.answer", Answer)

SCHEMAS = schemas(split, recall, call, reply, fact, doubt, answer)
"""The payload of every event, beside `type` and `v`."""
