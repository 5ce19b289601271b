"""What a FuRePA run carries from node to node: plain data, so that every step can be stored, edited and resumed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from langgraph_evidence.run import RunOutput, RunState, merge_by_id

ScoredBy = Literal["trained", "untrained", "none"]
"""What ordered the queries: a trained scorer, an untrained one, or nothing where there was one query alone."""


class Plan(TypedDict):
    """One candidate plan p: a chain of thought r with a query q or an answer a (eq. 2).

    `unusable` is a reply that follows no format, `failed` a call that did not go through, `late` one that the run's
    deadline cut; none of them is a plan to count.
    """

    id: str
    iteration: int
    kind: Literal["search", "answer", "unusable", "failed", "late"]
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


class FurepaOutput(RunOutput):
    """What a run gives back."""

    plans: dict[str, Plan]
    steps: list[Step]


class FurepaState(RunState, total=False):
    """The memory of the loop; `sampling` is how many plans this iteration asks for."""

    question: str
    iteration: int
    temperature: float | None
    sampling: int
    plans: Annotated[dict[str, Plan], merge_by_id]
    chosen: list[Plan]
    queries: list[ScoredQuery]
    scored_by: ScoredBy
    steps: list[Step]
    analysis: str


class Asking(TypedDict):
    """What one parallel call for candidate plans is sent; of one that asks alone, its failure is the run's."""

    index: int
    count: int
    alone: bool
    iteration: int
    temperature: float | None
    question: str
    context: list[str]
    history: str
    settings: dict[str, Any]
    calls: int | None
    seconds: float | None


def plans_of_round(state: FurepaState) -> list[Plan]:
    """P_t, with the replies that are no plan."""
    return [plan for plan in state["plans"].values() if plan["iteration"] == state["iteration"]]


def lost(state: FurepaState) -> bool:
    """Whether no call of the iteration has gone through, or none has been made."""
    return all(plan["kind"] in {"failed", "late"} for plan in plans_of_round(state))


def held_of(state: FurepaState) -> set[str]:
    """The ids of the evidence E_t."""
    return {passage["id"] for passage in state["evidence"]}
