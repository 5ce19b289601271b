"""RQ-RAG: learning to refine queries for retrieval augmented generation (Chan et al. 2024, arXiv 2404.00610).

At each step a path of the tree rewrites, decomposes or disambiguates the question into a query and retrieves, or ends
its search and answers (section 2.3, figure 7). All paths of a level are worked on at the same time: their queries, then
their searches, level by level to the depth that is set. Every path from the question to an answer is a trajectory, and
the best of them answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from langgraph.graph import StateGraph
from langgraph.types import Send

from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.rq_rag import events, selecting
from langgraph_evidence.methods.rq_rag.offline import RESPONDERS
from langgraph_evidence.methods.rq_rag.rounds import (
    cut_before,
    kept_for,
    last_answer,
    not_yet_made,
    task_of,
    within_calls,
)
from langgraph_evidence.methods.rq_rag.settings import RqRagSettings
from langgraph_evidence.methods.rq_rag.state import FREE, WORK, RqRagOutput, RqRagState
from langgraph_evidence.methods.rq_rag.steps import Steps, guarded
from langgraph_evidence.methods.rq_rag.tree import ROOT, grow, ready, root_path, searched
from langgraph_evidence.models import verifier_or_default
from langgraph_evidence.run import MethodRun, QuestionInput, add_nodes, replaced

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.citations import AnswerVerifier
    from langgraph_evidence.models.causal import TokenLikelihood

_Graph = StateGraph[RqRagState, RqRagSettings, QuestionInput, RqRagOutput]


def create_rq_rag(
    model: BaseChatModel | str,
    retriever: BaseRetriever,
    *,
    settings: RqRagSettings | None = None,
    verifier: AnswerVerifier | None = None,
    likelihood: TokenLikelihood | None = None,
    max_concurrency: int = 16,
) -> _Graph:
    """Builds the RQ-RAG graph; the caller compiles it with the checkpointer of its choice.

    Under `ainvoke` all calls of a level are made at the same time. Under `invoke` LangGraph makes as many as it has
    threads: a few more than there are cores, or `max_concurrency` of the run's config.

    Args:
        model: A chat model, a name for LangChain's `init_chat_model`, or "offline"; one whose `adapter` is "rq_rag"
            continues control tokens, any other is prompted.
        retriever: Where evidence comes from.
        settings: The values of a run whose `context` says nothing else.
        verifier: Checks the answers against their evidence; the shipped one when none is given.
        likelihood: Scores whole texts; without it the authors' perplexity is not available.
        max_concurrency: Calls in flight at the same time.

    Returns:
        A state graph from `{"question"}` to answer, citations, evidence, messages, usage, stopped, trajectories,
        selections and selected_by.

    Raises:
        InvalidInput: The model's name is unknown.
    """
    chat = LanguageModel(model, max_concurrency=max_concurrency, responders=RESPONDERS)
    chosen = settings or RqRagSettings()
    return RqRag(chosen, verifier_or_default(verifier), Steps(chat, retriever), likelihood).graph()


@dataclass(frozen=True)
class RqRag(MethodRun[RqRagSettings]):
    """The steps on a path, what goes on between them, and their wiring."""

    name = "rq_rag"
    last_steps = 4  # answer, advance, select, conclude
    answered = events.answer
    may_not_search = True  # search on demand: the model may answer at once (section 1)

    steps: Steps
    likelihood: TokenLikelihood | None = None

    def fresh(self, asked: str, settings: RqRagSettings) -> RqRagState:  # noqa: ARG002 - the shared signature
        """The memory before the first step: the question itself."""
        return RqRagState(
            round=0,
            scheduled=[],
            paths=replaced({ROOT: root_path()}),
            passages=replaced({}),
            trajectories=[],
            selections={},
            selected_by="",
        )

    def from_knowledge(self, ended: RqRagState) -> bool:
        """An answer stands without evidence where no path searched; a search that found nothing proves nothing."""
        return not searched(ended["paths"])

    def advance(self, state: RqRagState) -> RqRagState:
        """Moves on every path that waits for nobody, and schedules those that are worked on next."""
        grown = grow(state["paths"], self.settings_of(state))
        paths = {**state["paths"], **grown}
        found = ready(paths)
        cut = state["cut"] or cut_before(self, state, paths, found)
        if cut:
            found = last_answer(self, state, paths)
        else:
            found = within_calls(found, self.affordable(state, wanted=len(found), **kept_for(found)))
        grown |= {path["id"]: path for path in found}
        names = [path["id"] for path in found]
        return RqRagState(paths=grown, scheduled=names, round=state["round"] + 1, cut=cut)

    def scheduled(self, state: RqRagState) -> list[Send] | Literal["advance", "select"]:
        """Starts the steps of a round, one a path, or ends the search."""
        if not state["scheduled"]:
            return "select"
        # LangGraph takes an edit after the steps for one before them; none that was made is made again.
        paths, settings = not_yet_made(state), self.settings_of(state)
        if not paths:
            return "advance"
        asking = sum(path["stage"] not in FREE for path in paths)
        allowance = self.share(state, among=asking, **kept_for(paths))
        return [Send(path["stage"], task_of(state, path, settings, allowance)) for path in paths]

    async def select(self, state: RqRagState) -> RqRagState:
        """Every selection in one pass; the one that is set decides (section 2.3)."""
        return await selecting.select(self, state, self.likelihood)

    def graph(self) -> _Graph:
        """Choose, refine, retrieve, and again, until every path answers; then select."""
        builder: _Graph = self.builder(RqRagState, given=QuestionInput, output=RqRagOutput)
        add_nodes(builder, self.advance, *map(guarded, self.steps.asking()), self.select)
        builder.add_edge("begin", "advance")
        builder.add_conditional_edges("advance", self.scheduled, [*WORK, "advance", "select"])
        for stage in WORK:
            builder.add_edge(stage, "advance")
        builder.add_edge("select", "conclude")
        return builder
