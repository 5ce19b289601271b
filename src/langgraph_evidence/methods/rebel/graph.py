"""REBEL: recursion based extensible LLM (Sodani, Moos and Mirman 2023, arXiv 2309.11688).

Algorithm 1 asks itself: a question is split, its sub-questions are answered first, each answer becomes a fact, and the
question is then answered from the facts or by one use of one tool. Here a call of it is a frame in the state, and the
table below is the algorithm. All frames that wait for nothing are worked on at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from langgraph.graph import StateGraph
from langgraph.types import Send

from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.rebel import events, tickets
from langgraph_evidence.methods.rebel.doubting import in_doubt
from langgraph_evidence.methods.rebel.frames import ROOT, Moves, advance, ready, root_frame, subtree_facts
from langgraph_evidence.methods.rebel.near_duplicates import Features, default_features
from langgraph_evidence.methods.rebel.offline import RESPONDERS
from langgraph_evidence.methods.rebel.rounds import (
    cut_before,
    evidence_of,
    kept_for,
    last_answer,
    not_yet_made,
    task_of,
    within_calls,
)
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.state import FREE, WORK, Frame, RebelOutput, RebelState, Stage, Task
from langgraph_evidence.methods.rebel.steps import Steps, ended, guarded, tell_facts
from langgraph_evidence.methods.rebel.toolbox import Toolbox
from langgraph_evidence.methods.rebel.tree import tree_of
from langgraph_evidence.models import verifier_or_default
from langgraph_evidence.run import MethodRun, QuestionInput, add_nodes, replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from langgraph_evidence.citations import AnswerVerifier

_Graph = StateGraph[RebelState, RebelSettings, QuestionInput, RebelOutput]


class Rule(NamedTuple):
    """A stage of a frame: its line of Algorithm 1, and the stage that each outcome leads to."""

    stage: Stage
    algorithm: str
    then: Mapping[str, Stage]


ALGORITHM = (
    Rule("waiting", "for each subquestion, in order", {"stands alone": "plain", "leans on others": "rewrite"}),
    Rule("rewrite", "ours: word it to stand alone (section 4.2.1)", {"worded": "opened", "not worded": "plain"}),
    Rule("plain", "ours: spell out what nobody answered", {"spelt out": "opened"}),
    Rule("opened", "promptf(question, facts, allow_split)", {
        "may split": "split", "may not split": "check", "is a fact": "done", "is asked elsewhere": "duplicate",
        "asks what it comes from": "done",
    }),
    Rule("split", "subquestions = split(question, facts), none that asks the same", {"split": "children"}),
    Rule("children", "facts += fact of each subquestion", {"all answered": "check"}),
    Rule("duplicate", "ours: the same question is at work elsewhere", {"answered": "done"}),
    Rule("check", "if", {"to recall": "recall", "nothing to recall": "choose", "no tools": "answer"}),
    Rule("recall", "memory_check(question, facts)", {"yes": "answer", "no": "choose"}),
    Rule("choose", "else", {"several tools": "pick_tool", "one tool": "tool_input", "no tools": "answer"}),
    Rule("pick_tool", "tool = pick_tool(question, facts)", {
        "picked": "tool_input", "none": "answer", "unusable": "stuck",
    }),
    Rule("tool_input", "input = tool_input(tool, question, facts)", {"written": "use_tool", "unusable": "stuck"}),
    Rule("use_tool", "use_tool(tool, input)", {
        "replied": "answer", "refused its input": "tool_input", "failed": "stuck", "may have happened": "confirm",
    }),
    Rule("confirm", "ours: ask before a second use", {"repeat": "use_tool", "told": "answer", "skip": "stuck"}),
    Rule("stuck", "ours: a tool that failed is no fact", {"has facts": "answer", "no facts": "done"}),
    Rule("answer", "answer = llm(question, facts, reply)", {
        "answered": "done", "not answered": "done", "not supported": "choose",
    }),
)  # fmt: skip
"""Algorithm 1: what is done in each stage of a frame, and where each outcome leads."""

# A call that did not go through twice ends its question without a fact.
MOVES: Moves = {line.stage: {**line.then, "lost": "done"} for line in ALGORITHM}


def create_rebel(
    model: BaseChatModel | str,
    tools: Sequence[BaseTool],
    *,
    settings: RebelSettings | None = None,
    features: Features | None = None,
    verifier: AnswerVerifier | None = None,
) -> _Graph:
    """Builds the REBEL graph; the caller compiles it with the checkpointer of its choice.

    Under `ainvoke` all steps of a round are made at the same time. Under `invoke` LangGraph makes as many as it has
    threads: a few more than there are cores, or `max_concurrency` of the run's config.

    Args:
        model: A chat model, a name for LangChain's `init_chat_model`, or "offline".
        tools: What it may use, any LangChain tool; none is the paper's "REBEL without tools". One that must not be used
            twice for one question says so by `metadata={"idempotent": False}`.
        settings: The values of a run whose `context` says nothing else.
        features: Maps texts to vectors, to find sub-questions that ask the same again; the shared encoder when none is
            given.
        verifier: Checks the answer against the evidence; the shipped one when none is given.

    Returns:
        A state graph from `{"question"}` to answer, citations, evidence, messages, usage, stopped, tree and facts.

    Raises:
        InvalidInput: The model's name is unknown, or two tools have one name.
    """
    steps = Steps(LanguageModel(model, responders=RESPONDERS), Toolbox(tuple(tools)), features or default_features)
    return Rebel(settings or RebelSettings(), verifier_or_default(verifier), steps).graph()


@dataclass(frozen=True)
class Rebel(MethodRun[RebelSettings]):
    """The steps, what goes on between them, and their wiring."""

    name = "rebel"
    last_steps = 3  # answer, advance, conclude
    answered = events.answer
    may_not_search = True  # Algorithm 1 also answers from what the model knows

    steps: Steps

    def fresh(self, asked: str, settings: RebelSettings) -> RebelState:
        """The memory before the first step: the question's own frame."""
        frames, replies = replaced({ROOT: root_frame(asked, settings)}), replaced({})
        return RebelState(round=0, scheduled=[], frames=frames, replies=replies, tree={}, facts=[])

    async def advance(self, state: RebelState) -> RebelState:
        """Moves on every frame that waits for nobody, and schedules those that are worked on next."""
        settings, names = self.settings_of(state), self.steps.toolbox.names
        changed = advance(state["frames"], settings, names, MOVES)
        tell_facts(changed.values())
        frames = {**state["frames"], **changed}
        if doubt := await in_doubt(self, RebelState({**state, "frames": frames}), names, MOVES):
            changed |= doubt | advance({**frames, **doubt}, settings, names, MOVES)
            frames |= changed
        found = [] if frames[ROOT]["stage"] == "done" else ready(frames, parallel=settings.parallel)
        cut = state["cut"] or cut_before(self, state, frames, found)
        if cut and found:
            found = last_answer(self, state, frames[ROOT])
        else:
            found = within_calls(found, self.affordable(state, wanted=len(found), **kept_for(found)))
        for frame in found:
            ticket = tickets.issue() if frame["stage"] == "use_tool" else frame["ticket"]
            changed[frame["id"]] = Frame({**frame, "ticket": ticket})
        names = [frame["id"] for frame in found]
        return RebelState(frames=changed, scheduled=names, round=state["round"] + 1, cut=cut)

    def scheduled(self, state: RebelState) -> list[Send] | Literal["advance", "conclude"]:
        """Starts the steps of a round, one a frame, or ends the run."""
        if not state["scheduled"]:
            return "conclude"
        # LangGraph takes an edit after the steps for one before them; none that was made is made again.
        frames, settings = not_yet_made(state), self.settings_of(state)
        if not frames:
            return "advance"
        asking = sum(frame["stage"] not in FREE for frame in frames)
        allowance = self.share(state, among=asking, **kept_for(frames))
        return [Send(frame["stage"], task_of(state, frame, settings, allowance)) for frame in frames]

    def confirm(self, task: Task) -> RebelState:
        """Asks whether a use of a tool that may already have happened is to be repeated; see `tickets.confirmed`."""
        return ended(task, tickets.confirmed(task["frame"], limit=self.settings_of(task).reply_chars), MOVES)

    def ending(self, state: RebelState) -> RebelState:
        """Gathers answer, evidence, tree and facts from the frames."""
        frames = state["frames"]
        answer = frames[ROOT]["answer"] or frames[ROOT]["doubted"]
        return RebelState(
            answer=answer,
            evidence=evidence_of(state),
            stopped=state["cut"] or ("answered" if answer else "no_answer"),
            tree=tree_of(frames),
            facts=subtree_facts(frames, ROOT, grandchildren=True),
        )

    def graph(self) -> _Graph:
        """One round after another: the steps of all frames that are ready, then `advance`."""
        builder: _Graph = self.builder(RebelState, given=QuestionInput, output=RebelOutput)
        add_nodes(builder, self.advance, self.confirm)
        add_nodes(builder, *(guarded(step, MOVES) for step in self.steps.asking()))
        builder.add_edge("begin", "advance")
        builder.add_conditional_edges("advance", self.scheduled, [*WORK, "advance", "conclude"])
        for stage in WORK:
            builder.add_edge(stage, "advance")
        return builder
