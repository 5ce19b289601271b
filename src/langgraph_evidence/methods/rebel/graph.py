"""REBEL: recursion based extensible LLM (Sodani, Moos and Mirman 2023, arXiv 2309.11688).

Algorithm 1 asks itself: a question is split, its sub-questions are answered first, each answer becomes a fact, and the
question is then answered from the facts or by one use of one tool. Here the recursion is a table of frames in the
state. The nodes of `Rebel` are the paper's steps, each on one frame; `advance` moves frames on between them, and all
frames that wait for nothing are worked on at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send, interrupt

from langgraph_evidence.budget import spent
from langgraph_evidence.citations import cite, cited_message
from langgraph_evidence.concurrency import node
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.rebel import events, tickets
from langgraph_evidence.methods.rebel.frames import (
    ROOT,
    Frames,
    advance,
    in_order,
    known_facts,
    ready,
    root_frame,
    subtree_facts,
    without_tool,
)
from langgraph_evidence.methods.rebel.near_duplicates import Features, default_features
from langgraph_evidence.methods.rebel.offline import RESPONDERS
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.state import (
    WORK,
    Frame,
    RebelInput,
    RebelOutput,
    RebelState,
    RebelUpdate,
    Stage,
    Task,
    ToolReply,
    budget_of,
    fresh,
    settings_of,
)
from langgraph_evidence.methods.rebel.steps import Steps, guarded, tell_facts
from langgraph_evidence.methods.rebel.toolbox import Toolbox
from langgraph_evidence.methods.rebel.tree import tree_of
from langgraph_evidence.settings import resolve, schema_of
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from langgraph_evidence.types import Stopped

_Graph = StateGraph[RebelState, RebelSettings, RebelInput, RebelOutput]

# Steps that ask no model, and so cost no call.
_FREE: tuple[Stage, ...] = ("use_tool", "confirm")


def create_rebel(
    model: BaseChatModel | str,
    tools: Sequence[BaseTool],
    *,
    settings: RebelSettings | None = None,
    features: Features | None = None,
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

    Returns:
        A state graph from `{"question"}` to answer, citations, evidence, messages, usage, stopped, tree and facts.

    Raises:
        InvalidInput: The model's name is unknown, or two tools have one name.
    """
    steps = Steps(LanguageModel(model, responders=RESPONDERS), Toolbox(tuple(tools)), features or default_features)
    return Rebel(steps, settings or RebelSettings()).graph()


@dataclass(frozen=True)
class Rebel:
    """The steps, what goes on between them, and their wiring."""

    steps: Steps
    settings: RebelSettings

    def begin(self, state: RebelState) -> RebelUpdate:
        """Checks the question, fixes the run's settings, and clears what an earlier question left on the thread."""
        question = state.get("question")
        if not isinstance(question, str) or not question.strip():
            raise InvalidInput(f"The input needs a non-empty 'question'; it was given {question!r}.")
        settings = resolve(get_runtime().context, self.settings)
        return fresh(question.strip(), settings, root_frame(question.strip(), settings))

    def advance(self, state: RebelState) -> RebelUpdate:
        """Moves on every frame that waits for nothing, and chooses those that are worked on next."""
        settings = settings_of(state)
        changed = advance(state["frames"], settings, self.steps.toolbox.names)
        tell_facts(changed)
        frames: Frames = {**state["frames"], **changed}
        chosen, forced = _affordable(frames, state, settings)
        if forced and chosen:
            changed[ROOT] = frames[ROOT] = chosen[0]
        for frame in chosen:
            if frame["stage"] == "use_tool":
                changed[frame["id"]] = Frame({**frame, "ticket": tickets.issue()})
        return RebelUpdate(
            frames=changed,
            scheduled=[frame["id"] for frame in chosen],
            turn=state["turn"] + 1,
            forced=state["forced"] or forced,
        )

    def rounds(self, state: RebelState) -> list[Send] | Literal["conclude"]:
        """Starts the steps of a round, one a frame, or ends the run."""
        if not state["scheduled"]:
            return "conclude"
        frames = [state["frames"][name] for name in state["scheduled"]]
        return [Send(frame["stage"], task_of(state, frame, together=len(frames))) for frame in frames]

    def confirm(self, task: Task) -> RebelUpdate:
        """Asks whether a use of a tool that may already have happened is to be repeated.

        The answer is "repeat", "skip", or `{"reply": text}` with what the tool is known to have replied; whatever else
        is given, the use is not repeated.
        """
        decision = interrupt(_question_about(task["frame"]))
        frame = task["frame"]
        if decision == "repeat":
            return RebelUpdate(frames={frame["id"]: Frame({**frame, "stage": "use_tool", "ticket": ""})})
        if isinstance(decision, dict) and isinstance(decision.get("reply"), str):
            reply = ToolReply(tool=frame["tool"], text=decision["reply"][: settings_of(task).reply_chars], passages=[])
            answering = Frame({**frame, "stage": "answer", "ticket": ""})
            return RebelUpdate(frames={frame["id"]: answering}, replies={frame["id"]: reply})
        skipped = without_tool(frame, f"The tool {frame['tool']} was in use when the run broke off; not repeated.")
        tell_facts({frame["id"]: skipped})
        return RebelUpdate(frames={frame["id"]: skipped})

    def conclude(self, state: RebelState) -> RebelUpdate:
        """Gathers tree, facts and evidence, cites what supports the answer, and adds up what the run has spent."""
        frames = state["frames"]
        answer = frames[ROOT]["answer"]
        evidence = evidence_of(state)
        citations = cite(state["question"], answer, evidence)
        usage, tree, stopped = spent(state["ledger"]), tree_of(frames), _why(state, answer)
        events.answer({"answer": answer, "citations": citations, "stopped": stopped, "usage": usage, "tree": tree})
        return RebelUpdate(
            answer=answer,
            citations=citations,
            evidence=evidence,
            messages=[cited_message(answer, citations, name="rebel")],
            usage=usage,
            stopped=stopped,
            tree=tree,
            facts=subtree_facts(frames, ROOT, grandchildren=True),
        )

    def graph(self) -> _Graph:
        """One round after another: the steps of all frames that are ready, then `advance`."""
        builder: _Graph = StateGraph(
            RebelState,
            context_schema=schema_of(self.settings),
            input_schema=RebelInput,
            output_schema=RebelOutput,
        )
        steps = self.steps
        for body in (self.begin, self.advance, self.conclude):
            builder.add_node(body.__name__, body)
        confirm: Any = self.confirm
        builder.add_node("confirm", confirm)
        work = (
            steps.split,
            steps.rewrite,
            steps.recall,
            steps.pick_tool,
            steps.tool_input,
            steps.use_tool,
            steps.answer,
        )
        for step in work:
            builder.add_node(step.__name__, node(guarded(step)))
        builder.add_edge(START, "begin")
        builder.add_edge("begin", "advance")
        builder.add_conditional_edges("advance", self.rounds, [*WORK, "conclude"])
        for stage in WORK:
            builder.add_edge(stage, "advance")
        builder.add_edge("conclude", END)
        return builder


def task_of(state: RebelState, frame: Frame, *, together: int) -> Task:
    """What the step on a frame is sent, when so many steps are made at the same time."""
    settings, frames = settings_of(state), state["frames"]
    budget, so_far = budget_of(settings), spent(state["ledger"])
    ancestors: list[str] = []
    name = frame["parent"]
    while name:
        ancestors.insert(0, frames[name]["question"])
        name = frames[name]["parent"]
    reserve = 0 if frame["id"] == ROOT and frame["stage"] == "answer" else 1
    return Task(
        frame=frame,
        turn=state["turn"],
        facts=known_facts(frames, frame, settings),
        ancestors=ancestors,
        reply=state["replies"].get(frame["id"]) if frame["stage"] == "answer" else None,
        settings=state["settings"],
        seconds=budget.seconds_left(so_far),
        repair=budget.allows(so_far, calls=2 * together + reserve),
    )


def evidence_of(state: RebelState) -> list[Passage]:
    """The passages of all searches and the replies of all other tools, each once, in the order of the tree."""
    found: dict[str, Passage] = {}
    for frame in in_order(state["frames"]):
        reply = state["replies"].get(frame["id"])
        if reply is None:
            continue
        whole = Passage(id=f"tool:{frame['id']}", title=reply["tool"], text=reply["text"])
        for passage in reply["passages"] or [whole]:
            found.setdefault(passage["id"], Passage({**passage, "query": frame["question"]}))
    return list(found.values())


def _affordable(frames: Frames, state: RebelState, settings: RebelSettings) -> tuple[list[Frame], bool]:
    """The frames that the budget lets work on, and whether it forces the answer.

    One call is kept back for the answer to the question itself; when no other is left, that answer is forced.
    """
    if frames[ROOT]["stage"] == "done":
        return [], False
    found = ready({ROOT: frames[ROOT]} if state["forced"] else frames, parallel=settings.parallel)
    budget, so_far = budget_of(settings), spent(state["ledger"])
    asking = [frame for frame in found if frame["stage"] not in _FREE]
    if not found or all(frame["stage"] in _FREE for frame in found):
        return found, False
    at_answer = [frame for frame in asking if frame["id"] == ROOT and frame["stage"] == "answer"]
    if at_answer:
        return (at_answer, False) if budget.allows(so_far) else ([], True)
    while asking and not budget.allows(so_far, calls=len(asking) + 1):
        asking.pop()
    if asking:
        return [frame for frame in found if frame in asking or frame["stage"] in _FREE], False
    if not budget.allows(so_far):
        return [], True
    return [Frame({**frames[ROOT], "stage": "answer", "tool": ""})], True


def _why(state: RebelState, answer: str) -> Stopped:
    if state["forced"]:
        return "budget"
    return "answered" if answer else "no_answer"


def _question_about(frame: Frame) -> dict[str, Any]:
    return {
        "ask": "This use of a tool may already have happened when the run broke off. Repeat it, or skip it?",
        "id": frame["id"],
        "question": frame["question"],
        "tool": frame["tool"],
        "arguments": frame["arguments"],
        "answers": ["repeat", "skip", {"reply": "what the tool replied"}],
    }
