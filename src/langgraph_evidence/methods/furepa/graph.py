"""FuRePA: furthest reasoning with a plan assessor (Zhu, Luo and Cheng 2023, arXiv 2309.12767).

The nodes of `Furepa`, read from `next_round` to `answer`, are the paper's iteration: the model sees the question and
the evidence alone and proposes n plans; the assessor decides by vote between answering and searching, filters the
queries that ask for nothing new and scores the rest; the best query brings one more passage of evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from langgraph.graph import StateGraph
from langgraph.types import Send

from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.furepa import assessor, events
from langgraph_evidence.methods.furepa.offline import RESPONDERS
from langgraph_evidence.methods.furepa.reasoning import best_so_far, force_answer, propose_plans, sample_of
from langgraph_evidence.methods.furepa.searching import doubted, execute, rank_by_score
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.methods.furepa.state import Asking, FurepaOutput, FurepaState, ScoredQuery, lost, plans_of_round
from langgraph_evidence.models import default_query_scorer, verifier_or_default
from langgraph_evidence.run import MethodRun, QuestionInput, add_nodes, replaced

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.citations import AnswerVerifier
    from langgraph_evidence.models.query_scorer import QueryScorer

ROUND_STEPS = 6  # propose, assess, answer (in doubt), score_queries, retrieve, next_round

AfterAssess = Literal["answer", "score_queries", "retrieve", "raise_temperature", "next_round", "conclude"]
_Graph = StateGraph[FurepaState, FurepaSettings, QuestionInput, FurepaOutput]


def create_furepa(
    model: BaseChatModel | str,
    retriever: BaseRetriever,
    *,
    settings: FurepaSettings | None = None,
    query_scorer: QueryScorer | None = None,
    verifier: AnswerVerifier | None = None,
) -> _Graph:
    """Builds the FuRePA graph; the caller compiles it with the checkpointer of its choice.

    Args:
        model: A chat model, a name for LangChain's `init_chat_model`, or "offline".
        retriever: Where evidence comes from; one unseen passage is taken from it an iteration.
        settings: The values of a run whose `context` says nothing else.
        query_scorer: Scores candidate queries (eq. 7); the shipped one when none is given.
        verifier: Checks the answer against the evidence; the shipped one when none is given.

    Returns:
        A state graph from `{"question"}` to answer, citations, evidence, messages, usage, stopped, plans and steps.

    Raises:
        InvalidInput: The model's name is unknown.
    """
    chat = LanguageModel(model, responders=RESPONDERS)
    return Furepa(settings or FurepaSettings(), verifier_or_default(verifier), chat, retriever, query_scorer).graph()


@dataclass(frozen=True)
class Furepa(MethodRun[FurepaSettings]):
    """The method's collaborators, its nodes in the paper's order, and their wiring."""

    name = "furepa"
    last_steps = 2  # force_answer, conclude
    answered = events.answer

    model: LanguageModel
    retriever: BaseRetriever
    query_scorer: QueryScorer | None = None

    @cached_property
    def _scorer(self) -> QueryScorer:
        return self.query_scorer or default_query_scorer()

    def fresh(self, asked: str, settings: FurepaSettings) -> FurepaState:  # noqa: ARG002 - the shared signature
        """The loop's memory before the first iteration."""
        return FurepaState(
            iteration=0,
            temperature=settings.temperature,
            sampling=0,
            plans=replaced({}),
            chosen=[],
            queries=[],
            scored_by="none",
            steps=[],
            analysis="",
        )

    def next_round(self, state: FurepaState) -> FurepaState:
        """Goes on with another iteration, or ends the loop: after T of them, by the budget, or by the host's limit."""
        settings, plans = self.settings_of(state), plans_of_round(state)
        cut = state["cut"] or self.cut_of(state, steps=ROUND_STEPS, kept=self._kept(state))
        if state["iteration"] >= settings.iterations:
            cut = "forced"
        elif any(plan["kind"] == "late" for plan in plans):
            cut = "budget"
        # A round in which no call went through is asked again, by one call alone.
        wanted = 1 if plans else settings.plans_a_round
        return FurepaState(cut=cut, sampling=self.affordable(state, wanted=wanted, kept=self._kept(state)))

    def samples(self, state: FurepaState) -> list[Send] | Literal["next_round", "assess", "force_answer"]:
        """Starts the calls of an iteration."""
        if state["cut"]:
            return "force_answer"
        # LangGraph takes an edit after the calls for one before them; none that went through is made again.
        if not lost(state) or not state["sampling"]:
            return "next_round" if lost(state) else "assess"
        settings = self.settings_of(state)
        count = 1 if settings.native_n else state["sampling"]
        sample = sample_of(state, settings, self.share(state, among=count, kept=self._kept(state)))
        return [Send("propose", {**sample, "index": sample["index"] + number}) for number in range(count)]

    async def propose(self, sample: Asking) -> FurepaState:
        """Samples plans by furthest reasoning: question and evidence are seen, earlier steps masked (eqs. 1, 2)."""
        return await propose_plans(self.model, sample)

    def assess(self, state: FurepaState) -> FurepaState:
        """Plan decision, then query filter: an answer when enough plans answer, else what is new to ask (eqs. 4, 5)."""
        plans = plans_of_round(state)
        executed = [step["query"] for step in state["steps"]]
        decision, chosen = assessor.assess(len(state["evidence"]), plans, executed, self.settings_of(state))
        events.tell_assessment(state["iteration"], state["temperature"], plans, decision)
        queries = [ScoredQuery(plan=plan["id"], query=plan["text"], score=0.0, relevance=0.0) for plan in chosen]
        return FurepaState(chosen=chosen, queries=queries if decision == "search" else [], scored_by="none")

    def after_assess(self, state: FurepaState) -> AfterAssess:
        """Follows the decision: a single query needs no score, and without any the temperature rises."""
        if state["queries"]:
            return "score_queries" if len(state["queries"]) > 1 else "retrieve"
        if any(plan["kind"] == "answer" for plan in state["chosen"]):
            return "answer"
        return "next_round" if lost(state) else "raise_temperature"

    def raise_temperature(self, state: FurepaState) -> FurepaState:
        """Ends an iteration that found nothing new to ask, with a higher temperature (section 3.2.2)."""
        risen = self.settings_of(state).risen(state["temperature"])
        return FurepaState(iteration=state["iteration"] + 1, temperature=risen)

    async def score_queries(self, state: FurepaState) -> FurepaState:
        """Query scorer: orders the queries by their predicted reciprocal rank (eqs. 6-10)."""
        limit, seconds = self.settings_of(state).candidates, self.share(state, among=1).seconds
        return await rank_by_score(state, self.retriever, lambda: self._scorer, limit=limit, seconds=seconds)

    async def retrieve(self, state: FurepaState) -> FurepaState:
        """Executes the best query: its best ranked new passage joins the evidence (eq. 3); without one tp rises."""
        if not state["queries"]:
            return FurepaState()
        update = await execute(state, self.retriever, seconds=self.share(state, among=1).seconds)
        if len(update.get("evidence", [])) == len(state["evidence"]):
            update["temperature"] = self.settings_of(state).risen(state["temperature"])
        return update

    async def answer(self, state: FurepaState) -> FurepaState:
        """Ends with the commonest answer and its chain of thought; one that the evidence does not support goes on."""
        plan, settings = assessor.majority_answer(state["chosen"]), self.settings_of(state)
        last = state["iteration"] + 1 >= settings.iterations or state["cut"] or self.cut_of(state, steps=ROUND_STEPS)
        why = "" if last else await self.doubts(state, plan["text"])
        if why:
            return doubted(state, plan, why, settings)
        return FurepaState(answer=plan["text"], analysis=plan["analysis"], stopped="answered")

    def after_answer(self, state: FurepaState) -> AfterAssess:
        """Ends, or goes on with what is left to ask."""
        return "conclude" if state["answer"] else self.after_assess(state)

    async def force_answer(self, state: FurepaState) -> FurepaState:
        """Forces an answer after the last iteration (section 3.1.2); a spent budget leaves the best one so far."""
        if not state["evidence"] or not self.affordable(state, wanted=1, kept=0, last=True):
            return best_so_far(state)
        allowance = self.share(state, among=1, kept=0, last=True)
        return await force_answer(self.model, state, self.settings_of(state), allowance)

    def graph(self) -> _Graph:
        """Propose, assess, score, retrieve, and again, until the plans answer."""
        builder: _Graph = self.builder(FurepaState, given=QuestionInput, output=FurepaOutput)
        add_nodes(builder, self.next_round, self.propose, self.assess, self.score_queries, self.retrieve)
        add_nodes(builder, self.raise_temperature, self.in_time(self.answer), self.force_answer)
        builder.add_edge("begin", "next_round")
        builder.add_conditional_edges("next_round", self.samples, ["next_round", "propose", "assess", "force_answer"])
        builder.add_edge("propose", "assess")
        builder.add_conditional_edges("assess", self.after_assess)
        builder.add_edge("score_queries", "retrieve")
        builder.add_edge("retrieve", "next_round")
        builder.add_edge("raise_temperature", "next_round")
        builder.add_conditional_edges("answer", self.after_answer)
        builder.add_edge("force_answer", "conclude")
        return builder

    def _kept(self, state: FurepaState) -> int:
        """The calls kept back for a forced answer; not the last one of all while there is nothing to answer from."""
        return 1 if state["evidence"] or self.affordable(state, wanted=2, kept=0) > 1 else 0
