"""The algorithm: ask for a query, search, answer from what was found."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import StateGraph

from langgraph_evidence.llm import LanguageModel
from langgraph_evidence.llm.parse import clean
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.models import verifier_or_default
from langgraph_evidence.retrieval.search import search_new
from langgraph_evidence.run import MethodRun, QuestionInput, RunOutput, add_nodes
from langgraph_evidence.types import passage_line
from toy import events, prompts
from toy.offline import RESPONDERS
from toy.settings import ToySettings
from toy.state import ToyState

if TYPE_CHECKING:
    from langgraph_evidence.citations import AnswerVerifier
    from langgraph_evidence.types import Stopped

ROUND_STEPS = 2  # ask, search

_Graph = StateGraph[ToyState, ToySettings, QuestionInput, RunOutput]


def create_toy(
    model: BaseChatModel | str,
    retriever: BaseRetriever,
    *,
    settings: ToySettings | None = None,
    verifier: AnswerVerifier | None = None,
) -> _Graph:
    """Builds the graph; the caller compiles it."""
    chat = LanguageModel(model, responders=RESPONDERS)
    return Toy(settings or ToySettings(), verifier_or_default(verifier), chat, retriever).graph()


@dataclass(frozen=True)
class Toy(MethodRun[ToySettings]):
    """The nodes and their wiring."""

    name = "toy"
    last_steps = 2  # answer, conclude
    answered = events.answer

    model: LanguageModel
    retriever: BaseRetriever

    def fresh(self, asked: str, settings: ToySettings) -> ToyState:
        """The memory before the first step."""
        return ToyState(query="")

    def next_round(self, state: ToyState) -> ToyState:
        """Goes on, unless the budget or the host's limit of steps ends the run here."""
        return ToyState(cut=self.cut_of(state, steps=ROUND_STEPS))

    def go_on(self, state: ToyState) -> Literal["ask", "search", "answer"]:
        """What is done next."""
        return "answer" if state["cut"] else "search" if state["query"] else "ask"

    async def ask(self, state: ToyState) -> ToyState:
        """Asks for a query; without one the question itself is searched for."""
        reply = await self.model.ask(
            prompts.ASK, {"question": state["question"]}, parse=clean, allowance=self.share(state, among=1)
        )
        return ToyState(query=reply.value or state["question"], ledger={"ask.0": reply.usage})

    async def search(self, state: ToyState) -> ToyState:
        """Searches once."""
        async with asyncio.timeout(self.share(state, among=1).seconds):
            k = self.settings_of(state).passages
            evidence = await search_new(self.retriever, state["query"], k=k, seen=())
        events.search({"query": state["query"], "found": len(evidence)})
        return ToyState(evidence=evidence)

    async def answer(self, state: ToyState) -> ToyState:
        """Asks for the answer that the passages give."""
        if not state["evidence"]:
            return ToyState()
        if not self.affordable(state, wanted=1, kept=0, last=True):
            return ToyState(cut=state["cut"] or "budget")
        values = {
            "evidence": [quote(passage_line(passage)) for passage in state["evidence"]],
            "question": state["question"],
        }
        allowance = self.share(state, among=1, kept=0, last=True)
        reply = await self.model.ask(prompts.ANSWER, values, parse=clean, allowance=allowance)
        return ToyState(answer=reply.value, ledger={"answer.0": reply.usage})

    def ending(self, state: ToyState) -> ToyState:
        """Why the run ended."""
        missing: Stopped = "no_answer" if state["evidence"] else "no_evidence"
        return ToyState(stopped=state["cut"] or ("answered" if state["answer"] else missing))

    def graph(self) -> _Graph:
        """A query, a search, an answer."""
        builder: _Graph = self.builder(ToyState, given=QuestionInput, output=RunOutput)
        add_nodes(builder, self.next_round)
        add_nodes(builder, *(self.in_time(body) for body in (self.ask, self.search, self.answer)))
        builder.add_edge("begin", "next_round")
        go_on: Any = self.go_on
        for node in ("next_round", "ask"):
            builder.add_conditional_edges(node, go_on, ["ask", "search", "answer"])
        builder.add_edge("search", "answer")
        builder.add_edge("answer", "conclude")
        return builder
