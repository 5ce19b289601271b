"""What a FuRePA run carries from node to node: plain data, so that every step can be stored, edited and resumed."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage
from langgraph.managed import RemainingSteps
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from langgraph_evidence.budget import Budget
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.types import Citation, Passage, Stopped, Usage, no_usage


class Plan(TypedDict):
    """One candidate plan p: a chain of thought r with a query q or an answer a (eq. 2).

    `unusable` is a reply that follows no format, `failed` a call that did not go through; neither is a plan to count.
    """

    id: str
    iteration: int
    kind: Literal["search", "answer", "unusable", "failed"]
    analysis: str
    text: str


class Step(TypedDict):
    """An executed query with the reasoning that led to it: what the masks hide (section 4.3)."""

    iteration: int
    analysis: str
    query: str


class ScoredQuery(TypedDict):
    """A candidate query with its predicted reciprocal rank s_pred (eq. 10)."""

    plan: str
    query: str
    score: float
    relevance: float


def merge_by_id(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Joins two tables by their keys; the same row twice stays one row, so a replayed step changes nothing."""
    return {**(old or {}), **new}


class FurepaInput(TypedDict):
    """What a run is given."""

    question: str


class FurepaOutput(TypedDict):
    """What a run gives back."""

    answer: str
    citations: list[Citation]
    evidence: list[Passage]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped
    plans: dict[str, Plan]
    steps: list[Step]


class FurepaState(TypedDict):
    """The memory of the loop; `remaining_steps` is LangGraph's, and bounds a run whose host allows it few steps."""

    remaining_steps: RemainingSteps
    question: str
    settings: dict[str, Any]
    iteration: int
    temperature: float
    plans: Annotated[dict[str, Plan], merge_by_id]
    ledger: Annotated[dict[str, Usage], merge_by_id]
    chosen: list[Plan]
    queries: list[ScoredQuery]
    steps: list[Step]
    evidence: list[Passage]
    analysis: str
    answer: str
    citations: list[Citation]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped


class FurepaUpdate(TypedDict, total=False):
    """What a node may change; a misspelt key fails the type check, where LangGraph would drop it silently."""

    question: str
    settings: dict[str, Any]
    iteration: int
    temperature: float
    plans: dict[str, Plan] | Overwrite
    ledger: dict[str, Usage] | Overwrite
    chosen: list[Plan]
    queries: list[ScoredQuery]
    steps: list[Step]
    evidence: list[Passage]
    analysis: str
    answer: str
    citations: list[Citation]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped


class Sample(TypedDict):
    """What one parallel call for a candidate plan is sent."""

    index: int
    count: int
    iteration: int
    temperature: float
    question: str
    context: list[str]
    history: str
    settings: dict[str, Any]
    seconds: float | None


def fresh(question: str, settings: FurepaSettings) -> FurepaUpdate:
    """The state before the first iteration; it clears what an earlier question left on the thread."""
    return FurepaUpdate(
        question=question,
        settings=dataclasses.asdict(settings),
        iteration=0,
        temperature=settings.temperature,
        plans=Overwrite({}),
        ledger=Overwrite({}),
        chosen=[],
        queries=[],
        steps=[],
        evidence=[],
        analysis="",
        answer="",
        citations=[],
        messages=[],
        usage=no_usage(),
    )


def settings_of(state: FurepaState) -> FurepaSettings:
    """The settings that the run began with; they are kept in the state, so that a resumed run has the same ones."""
    return FurepaSettings(**state["settings"])


def budget_of(settings: FurepaSettings) -> Budget:
    """What a run with these settings may spend."""
    return Budget(calls=settings.max_calls, tokens=settings.max_tokens, seconds=settings.max_seconds)


def plans_of_round(state: FurepaState) -> list[Plan]:
    """P_t, with the replies that are no plan."""
    return [plan for plan in state["plans"].values() if plan["iteration"] == state["iteration"]]


def held_of(state: FurepaState) -> set[str]:
    """The ids of the evidence E_t."""
    return {passage["id"] for passage in state["evidence"]}
