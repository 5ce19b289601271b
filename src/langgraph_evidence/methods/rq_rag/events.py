"""What an RQ-RAG run tells while it runs: custom events, one TypedDict each; `docs/events.md` is made of them."""

from __future__ import annotations

from typing_extensions import TypedDict

from langgraph_evidence.events import Event, schemas
from langgraph_evidence.methods.rq_rag.selection import Failure, Selection
from langgraph_evidence.methods.rq_rag.settings import SelectionName
from langgraph_evidence.methods.rq_rag.state import Proposal
from langgraph_evidence.run import Answered
from langgraph_evidence.types import Passage


class Actions(TypedDict):
    """`rq_rag.actions`: what the model would do next at a path, the likeliest first."""

    path: str
    proposals: list[Proposal]


class Query(TypedDict):
    """`rq_rag.query`: the refined query of a path, or why there is none."""

    path: str
    action: str
    query: str
    why: str


class Evidence(TypedDict):
    """`rq_rag.evidence`: what a query found."""

    path: str
    query: str
    passages: list[Passage]


class Ended(TypedDict):
    """`rq_rag.trajectory`: the answer at the end of a path, or why there is none."""

    path: str
    answer: str
    failure: Failure
    why: str


class Selected(TypedDict):
    """`rq_rag.selection`: what every selection says, and which of them decided."""

    selections: dict[SelectionName, Selection]
    selected_by: str


class Doubt(TypedDict):
    """`rq_rag.doubt`: a selected answer that its evidence does not support, why, and the one in its place, if any."""

    answer: str
    why: str
    instead: str


actions = Event("rq_rag.actions", Actions)
query = Event("rq_rag.query", Query)
evidence = Event("rq_rag.evidence", Evidence)
trajectory = Event("rq_rag.trajectory", Ended)
selection = Event("rq_rag.selection", Selected)
doubt = Event("rq_rag.doubt", Doubt)
answer = Event("rq_rag.answer", Answered)

SCHEMAS = schemas(actions, query, evidence, trajectory, selection, doubt, answer)
"""The payload of every event, beside `type` and `v`."""
