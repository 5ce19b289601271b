"""What a FuRePA run tells while it runs: custom events, one TypedDict each; `docs/events.md` is generated from here."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from typing_extensions import TypedDict

from langgraph_evidence.events import Event, schemas
from langgraph_evidence.methods.furepa.state import Plan, ScoredBy, ScoredQuery
from langgraph_evidence.run import Answered
from langgraph_evidence.types import Passage


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
    scorer: ScoredBy


class Evidence(TypedDict):
    """`furepa.evidence`: the passage that a query brought, or null when it brought nothing new."""

    iteration: int
    query: str
    passage: Passage | None
    held: int


class Doubt(TypedDict):
    """`furepa.doubt`: an answer that the evidence does not support, and why; the run goes on."""

    iteration: int
    answer: str
    why: str


plans = Event("furepa.plans", Plans)
decision = Event("furepa.decision", Decision)
query = Event("furepa.query", Query)
evidence = Event("furepa.evidence", Evidence)
doubt = Event("furepa.doubt", Doubt)
answer = Event("furepa.answer", Answered)

SCHEMAS = schemas(plans, decision, query, evidence, doubt, answer)
"""The payload of every event, beside `type` and `v`."""


def tell_assessment(
    iteration: int, temperature: float | None, found: list[Plan], decided: Literal["answer", "search", "nothing"]
) -> None:
    """Tells the plans of an iteration, and then what the vote decided."""
    plans({"iteration": iteration, "temperature": temperature, "plans": found})
    counts = Counter(plan["kind"] for plan in found)
    decision({"iteration": iteration, "decision": decided, "answers": counts["answer"], "queries": counts["search"]})
