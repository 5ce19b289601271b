"""What a FuRePA run tells while it runs: custom events, one TypedDict each; `docs/events.md` is generated from here."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from langgraph_evidence import events
from langgraph_evidence.methods.furepa.state import Plan, ScoredQuery
from langgraph_evidence.types import Citation, Passage, Stopped, Usage


class Plans(TypedDict):
    """`furepa.plans`: the candidate plans of an iteration, the unusable and failed ones among them."""

    iteration: int
    temperature: float | None
    plans: list[Plan]


class Decision(TypedDict):
    """`furepa.decision`: what the vote decided, and by how many plans of how many."""

    iteration: int
    decision: Literal["answer", "search", "nothing"]
    answers: int
    queries: int


class Query(TypedDict):
    """`furepa.query`: the query that is executed, and all that were scored with it, best first."""

    iteration: int
    query: str
    queries: list[ScoredQuery]
    scorer: Literal["trained", "untrained", "none"]


class Evidence(TypedDict):
    """`furepa.evidence`: the passage that a query brought, or null when it brought nothing new."""

    iteration: int
    query: str
    passage: Passage | None
    held: int


class Answer(TypedDict):
    """`furepa.answer`: how the run ended."""

    answer: str
    citations: list[Citation]
    stopped: Stopped
    usage: Usage


SCHEMAS: dict[str, type] = {
    "furepa.plans": Plans,
    "furepa.decision": Decision,
    "furepa.query": Query,
    "furepa.evidence": Evidence,
    "furepa.answer": Answer,
}
"""The payload of every event, beside `type` and `v`."""


def plans(payload: Plans) -> None:
    """Sends `furepa.plans`."""
    events.emit("furepa.plans", payload)


def decision(payload: Decision) -> None:
    """Sends `furepa.decision`."""
    events.emit("furepa.decision", payload)


def query(payload: Query) -> None:
    """Sends `furepa.query`."""
    events.emit("furepa.query", payload)


def evidence(payload: Evidence) -> None:
    """Sends `furepa.evidence`."""
    events.emit("furepa.evidence", payload)


def answer(payload: Answer) -> None:
    """Sends `furepa.answer`."""
    events.emit("furepa.answer", payload)
