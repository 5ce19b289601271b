"""Rollouts: FuRePA's own graph, run by the offline planner over a question's own passages.

The graph is the one that answers, up to its answer; only what it is given is of training: the tables under fit, an
answer that nobody reads, and an order of the queries that no scorer has learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from langgraph_evidence.citations import Checked
from langgraph_evidence.llm.offline import OfflineChat
from langgraph_evidence.llm.offline.answers import QuotedAnswer
from langgraph_evidence.llm.offline.coverage import coverage
from langgraph_evidence.llm.offline.hops import FEWEST, NextSteps, plan
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.methods.furepa import FurepaSettings, create_furepa
from langgraph_evidence.methods.furepa.offline import responders
from langgraph_evidence.run import QuestionInput
from langgraph_evidence.training.offline_planner.data import SETTINGS

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from langgraph_evidence.llm.offline.weights import Tables
    from langgraph_evidence.training.offline_planner.data import Case
    from langgraph_evidence.types import Passage

# A run's samples count on from its seed, so that runs of neighbouring seeds would share most of them.
_SEEDS_A_RUN = 1000


@dataclass(frozen=True)
class Order:
    """A query scorer that reads nothing: the queries stay in the order of the samples, or are shuffled by `rng`."""

    rng: random.Random | None = None
    trained = False

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:  # noqa: ARG002 - its protocol
        """One number a query, all equal or drawn."""
        return [[0.0 if self.rng is None else self.rng.random()] for _ in queries]


AS_SAMPLED = Order()


@dataclass(frozen=True)
class Search:
    """One search of a rollout: what was held before it, and the queries to choose from, the executed one first."""

    held: tuple[int, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Rollout:
    """A run up to its answer: its searches, the passages in the order they were found, and how it ended.

    Args:
        searches: In their order, those that brought nothing among them.
        held: Indexes of the passages.
        answered: Whether the vote was to answer; if not, the last iteration had passed.
    """

    searches: tuple[Search, ...]
    held: tuple[int, ...]
    answered: bool


@dataclass(frozen=True)
class Readiness:
    """One state: the features of `coverage`, and whether the evidence is complete."""

    source: str
    held: int
    features: dict[str, float]
    complete: bool


class _Trusting:
    """Trusts every answer: those of a rollout only say that the planner would stop here."""

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:  # noqa: ARG002 - the protocol
        return Checked([], [], 1.0, [], "verified")


def play(
    case: Case,
    tables: Tables | None = None,
    *,
    seed: int = 0,
    settings: FurepaSettings = SETTINGS,
    order: Order = AS_SAMPLED,
    may_answer: bool = True,
    until_complete: bool = False,
) -> Rollout:
    """Runs FuRePA on a question, up to its answer.

    Args:
        case: The question over its passages.
        tables: The planner's; the shipped ones when there are none.
        seed: Of the samples.
        settings: Of the run, but for its seed.
        order: In place of the query scorer.
        may_answer: Whether a sample can be an answer.
        until_complete: Breaks off when all gold passages are held.
    """
    chat = _chat(tables, may_answer=may_answer)
    graph = create_furepa(chat, case.retriever, settings=settings, query_scorer=order, verifier=_Trusting())
    run = graph.compile(interrupt_before=["answer", "force_answer"])
    searches: list[Search] = []
    held: list[int] = []
    answered = False
    asked = QuestionInput(question=case.question)
    for event in run.stream(asked, context=FurepaSettings(seed=seed * _SEEDS_A_RUN), stream_mode="custom"):
        if event["type"] == "furepa.decision":
            answered = event["decision"] == "answer"
        elif event["type"] == "furepa.query":
            searches.append(Search(tuple(held), tuple(item["query"] for item in event["queries"])))
        elif event["type"] == "furepa.evidence" and event["passage"] is not None:
            held.append(int(event["passage"]["id"]))
            if until_complete and case.gold.issubset(held):
                break
    return Rollout(tuple(searches), tuple(held), answered)


def _chat(tables: Tables | None, *, may_answer: bool) -> OfflineChat:
    """The offline model with these tables; what its answers say is nobody's concern here, so nothing reads it out."""

    def planner(question: str, evidence: tuple[str, ...]) -> NextSteps:
        plans = plan(question, evidence, tables=tables)
        return plans if may_answer else replace(plans, ready=0.0)

    return OfflineChat(responders=responders(planner, lambda *_: QuotedAnswer("found", "")))


def make_readiness(cases: Iterable[Case], tables: Tables, *, seed: int = 0) -> list[Readiness]:
    """The states of rollouts that never answer; `tables` choose the queries."""
    return [
        row for case in cases for row in _states(case, tables, play(case, tables, seed=seed, may_answer=False).held)
    ]


def _states(case: Case, tables: Tables, held: Sequence[int]) -> Iterator[Readiness]:
    for count in range(FEWEST, len(held) + 1):
        evidence = case.evidence(held[:count])
        best = plan(case.question, evidence, tables=tables).queries[0][1]
        features = coverage(analyse(case.question), evidence, best=best)
        yield Readiness(case.source, count, features, case.gold.issubset(held[:count]))
