"""FuRePA: furthest reasoning with a plan assessor (Zhu, Luo and Cheng 2023, arXiv 2309.12767).

The nodes of `Furepa`, read from `propose` to `answer`, are the paper's iteration: the model sees the question and the
evidence alone and proposes n plans; the assessor decides by vote between answering and searching, filters the queries
that ask for nothing new and scores the rest; the best query brings one more passage of evidence.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send

from langgraph_evidence.budget import spent
from langgraph_evidence.citations import cite, cited_message
from langgraph_evidence.concurrency import gather, node
from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.furepa import assessor, events
from langgraph_evidence.methods.furepa.offline import RESPONDERS
from langgraph_evidence.methods.furepa.reasoning import best_so_far, force_answer, propose_plans, sample_of, why_forced
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.methods.furepa.state import (
    FurepaInput,
    FurepaOutput,
    FurepaState,
    FurepaUpdate,
    Plan,
    Sample,
    ScoredQuery,
    Step,
    budget_of,
    fresh,
    held_of,
    plans_of_round,
    settings_of,
)
from langgraph_evidence.models.query_scorer import QueryScorer, default_query_scorer
from langgraph_evidence.retrieval.search import first_new, search_new
from langgraph_evidence.settings import resolve, schema_of
from langgraph_evidence.types import Passage, no_usage, passage_line

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.types import Usage

# propose, decide, propose_alone, decide, filter_queries, score_queries, retrieve; then force_answer and conclude.
ROUND_STEPS = 9

_Graph = StateGraph[FurepaState, FurepaSettings, FurepaInput, FurepaOutput]


def create_furepa(
    model: BaseChatModel | str,
    retriever: BaseRetriever,
    *,
    settings: FurepaSettings | None = None,
    query_scorer: QueryScorer | None = None,
) -> _Graph:
    """Builds the FuRePA graph; the caller compiles it with the checkpointer of its choice.

    Args:
        model: A chat model, a name for LangChain's `init_chat_model`, or "offline".
        retriever: Where evidence comes from; one unseen passage is taken from it an iteration.
        settings: The values of a run whose `context` says nothing else.
        query_scorer: Scores candidate queries (eq. 7); the shipped one when none is given.

    Returns:
        A state graph from `{"question"}` to answer, citations, evidence, messages, usage, stopped, plans and steps.

    Raises:
        InvalidInput: The model's name is unknown.
    """
    return Furepa(
        LanguageModel(model, responders=RESPONDERS), retriever, settings or FurepaSettings(), query_scorer
    ).graph()


@dataclass(frozen=True)
class Furepa:
    """The method's collaborators, its nodes in the paper's order, and their wiring."""

    model: LanguageModel
    retriever: BaseRetriever
    settings: FurepaSettings
    query_scorer: QueryScorer | None

    @cached_property
    def _scorer(self) -> QueryScorer:
        return self.query_scorer or default_query_scorer()

    def begin(self, state: FurepaState) -> FurepaUpdate:
        """Checks the question, fixes the run's settings, and clears what an earlier question left on the thread."""
        question = state.get("question")
        if not isinstance(question, str) or not question.strip():
            raise InvalidInput(f"The input needs a non-empty 'question'; it was given {question!r}.")
        return fresh(question.strip(), resolve(get_runtime().context, self.settings))

    def rounds(self, state: FurepaState) -> list[Send] | Literal["force_answer"]:
        """Starts the n samples of an iteration, or ends the loop after T iterations or when the budget is spent.

        A host's limit of steps is a budget too: a chain of LangChain allows a graph 25.
        """
        settings = settings_of(state)
        count = settings.samples if settings.assess else 1
        affordable = budget_of(settings).allows(spent(state["ledger"]), calls=count)
        if state["iteration"] >= settings.iterations or not affordable or state["remaining_steps"] < ROUND_STEPS:
            return "force_answer"
        if settings.native_n:
            return [Send("propose", sample_of(state, index=0, count=count))]
        return [Send("propose", sample_of(state, index=index)) for index in range(count)]

    async def propose(self, sample: Sample) -> FurepaUpdate:
        """Samples plans by furthest reasoning: question and evidence are seen, earlier steps masked (eqs. 1, 2)."""
        try:
            return await propose_plans(self.model, sample)
        except ModelError as error:
            if not error.transient:
                raise
            name = f"{sample['iteration']}.{sample['index']}"
            plan = Plan(id=name, iteration=sample["iteration"], kind="failed", analysis="", text=str(error))
            return FurepaUpdate(plans={name: plan})

    async def propose_alone(self, state: FurepaState) -> FurepaUpdate:
        """Asks once more, alone, when no call of the round went through; its failure is the run's.

        A run that failed here can be resumed: the finished rounds are kept and this call is made again.
        """
        return await propose_plans(self.model, sample_of(state, index=settings_of(state).samples))

    def decide(self, state: FurepaState) -> FurepaUpdate:
        """Plan decision: answer when enough plans answer, otherwise go on with the queries (eq. 5)."""
        plans, settings = plans_of_round(state), settings_of(state)
        chosen = assessor.decide(state["iteration"], plans, threshold=settings.threshold)
        if not settings.assess:
            chosen = [plan for plan in plans if plan["kind"] in {"search", "answer"}][:1]
        iteration = state["iteration"]
        events.plans({"iteration": iteration, "temperature": state["temperature"], "plans": plans})
        events.decision(
            {
                "iteration": iteration,
                "decision": _kind_of(chosen),
                "answers": sum(plan["kind"] == "answer" for plan in plans),
                "queries": sum(plan["kind"] == "search" for plan in plans),
            }
        )
        return FurepaUpdate(chosen=chosen)

    def after_decision(
        self, state: FurepaState
    ) -> Literal["answer", "filter_queries", "raise_temperature", "propose_alone"]:
        """Follows the decision; a round in which no call went through is asked again."""
        decision = _kind_of(state["chosen"])
        if decision == "answer":
            return "answer"
        if decision == "search":
            return "filter_queries"
        failed = all(plan["kind"] == "failed" for plan in plans_of_round(state))
        return "propose_alone" if failed else "raise_temperature"

    def filter_queries(self, state: FurepaState) -> FurepaUpdate:
        """Query filter: one query of each cluster that holds no executed one (section 3.2.2)."""
        settings, plans = settings_of(state), state["chosen"]
        kept = list(range(len(plans)))
        if settings.assess:
            executed = [step["query"] for step in state["steps"]]
            candidates = [plan["text"] for plan in plans]
            kept = assessor.filter_queries(candidates, executed, **settings.filter())
        queries = [ScoredQuery(plan=plans[i]["id"], query=plans[i]["text"], score=0.0, relevance=0.0) for i in kept]
        return FurepaUpdate(queries=queries)

    def after_filter(self, state: FurepaState) -> Literal["score_queries", "retrieve", "raise_temperature"]:
        """A single query needs no score; without any the temperature rises."""
        if not state["queries"]:
            return "raise_temperature"
        return "score_queries" if len(state["queries"]) > 1 else "retrieve"

    def raise_temperature(self, state: FurepaState) -> FurepaUpdate:
        """Ends an iteration that found nothing new to ask, with a higher temperature (section 3.2.2)."""
        return FurepaUpdate(iteration=state["iteration"] + 1, temperature=_risen(state))

    async def score_queries(self, state: FurepaState) -> FurepaUpdate:
        """Query scorer: orders the queries by their predicted reciprocal rank (eqs. 6-10).

        D is what the queries find, without what is held: to find that again is no merit, `retrieve` passes over it. The
        paper's D is a question's own paragraphs.
        """
        started = time.monotonic()
        queries, limit = [item["query"] for item in state["queries"]], settings_of(state).candidates
        rankings = await gather([search_new(self.retriever, query, k=limit, seen=held_of(state)) for query in queries])
        pool = {passage["id"]: passage_line(passage) for ranking in rankings for passage in ranking}
        scores = await asyncio.to_thread(self._scorer.score, queries, list(pool.values()))
        ranked = [
            ScoredQuery(
                plan=state["queries"][i]["plan"],
                query=queries[i],
                score=assessor.predicted_score(scores[i]),
                relevance=max(scores[i], default=0.0),
            )
            for i in assessor.rank_queries(scores)
        ]
        return FurepaUpdate(queries=ranked, ledger=_row(state, "score", time.monotonic() - started))

    async def retrieve(self, state: FurepaState) -> FurepaUpdate:
        """Executes the best query: its best ranked passage that is not held yet joins the evidence (eq. 3)."""
        started = time.monotonic()
        iteration, best = state["iteration"], state["queries"][0]
        passage = await first_new(self.retriever, best["query"], seen=held_of(state))
        scored = len(state["queries"]) > 1
        scorer: Literal["trained", "untrained", "none"] = "none"
        if scored:
            scorer = "trained" if self._scorer.trained else "untrained"
        events.query({"iteration": iteration, "query": best["query"], "queries": state["queries"], "scorer": scorer})
        found = None if passage is None else Passage({**passage, "query": best["query"], "iteration": iteration})
        evidence = [*state["evidence"], *([] if found is None else [found])]
        events.evidence({"iteration": iteration, "query": best["query"], "passage": found, "held": len(evidence)})
        step = Step(iteration=iteration, analysis=state["plans"][best["plan"]]["analysis"], query=best["query"])
        return FurepaUpdate(
            iteration=iteration + 1,
            temperature=state["temperature"] if passage is not None else _risen(state),
            evidence=evidence,
            steps=[*state["steps"], step],
            ledger=_row(state, "retrieve", time.monotonic() - started),
        )

    def answer(self, state: FurepaState) -> FurepaUpdate:
        """Ends with the commonest answer of the answer plans and its chain of thought."""
        plan = assessor.majority_answer(state["chosen"])
        return FurepaUpdate(answer=plan["text"], analysis=plan["analysis"], stopped="answered")

    async def force_answer(self, state: FurepaState) -> FurepaUpdate:
        """Forces an answer after the last iteration (section 3.1.2); a spent budget leaves the best one so far."""
        if not state["evidence"] and why_forced(state) == "forced":
            return FurepaUpdate(answer="", stopped="no_evidence")
        if not state["evidence"] or not budget_of(settings_of(state)).allows(spent(state["ledger"])):
            return best_so_far(state)
        return await force_answer(self.model, state)

    def conclude(self, state: FurepaState) -> FurepaUpdate:
        """Cites the evidence that supports the answer and adds up what the run has spent."""
        citations = cite(state["question"], state["answer"], state["evidence"])
        usage = spent(state["ledger"])
        events.answer({"answer": state["answer"], "citations": citations, "stopped": state["stopped"], "usage": usage})
        message = cited_message(state["answer"], citations, name="furepa")
        return FurepaUpdate(citations=citations, messages=[message], usage=usage)

    def graph(self) -> _Graph:
        """Propose, decide, filter, score, retrieve, and again, until the plans answer."""
        builder: _Graph = StateGraph(
            FurepaState,
            context_schema=schema_of(self.settings),
            input_schema=FurepaInput,
            output_schema=FurepaOutput,
        )
        for body in (self.begin, self.decide, self.filter_queries, self.raise_temperature, self.answer, self.conclude):
            builder.add_node(body.__name__, body)
        for work in (self.propose, self.propose_alone, self.score_queries, self.retrieve, self.force_answer):
            builder.add_node(work.__name__, node(work))
        next_round = ["propose", "force_answer"]
        builder.add_edge(START, "begin")
        builder.add_conditional_edges("begin", self.rounds, next_round)
        builder.add_edge("propose", "decide")
        builder.add_conditional_edges("decide", self.after_decision)
        builder.add_edge("propose_alone", "decide")
        builder.add_conditional_edges("filter_queries", self.after_filter)
        builder.add_edge("score_queries", "retrieve")
        builder.add_conditional_edges("retrieve", self.rounds, next_round)
        builder.add_conditional_edges("raise_temperature", self.rounds, next_round)
        builder.add_edge("answer", "conclude")
        builder.add_edge("force_answer", "conclude")
        builder.add_edge("conclude", END)
        return builder


def _kind_of(chosen: list[Plan]) -> Literal["answer", "search", "nothing"]:
    return cast("Literal['answer', 'search']", chosen[0]["kind"]) if chosen else "nothing"


def _risen(state: FurepaState) -> float:
    """The next temperature: tp0 plus the accumulated rises (eq. 1), capped; the paper neither caps nor resets it."""
    settings = settings_of(state)
    return max(min(state["temperature"] + settings.temperature_step, settings.temperature_limit), state["temperature"])


def _row(state: FurepaState, name: str, seconds: float) -> dict[str, Usage]:
    row = no_usage()
    row["seconds"] = seconds
    return {f"{state['iteration']}:{name}.0": row}
