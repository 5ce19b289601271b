"""What a REBEL run carries from node to node: the stack of frames, as plain data that can be stored and resumed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from langgraph_evidence.budget import Budget
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.types import Citation, Passage, Stopped, Usage, no_usage

Origin = Literal["memory", "tool", "model", "failed"]
"""Where an answer comes from: earlier facts, a tool's reply, the model's own knowledge; `failed` is no answer."""

Stage = Literal[
    "waiting",
    "opened",
    "rewrite",
    "split",
    "children",
    "twin",
    "recall",
    "pick_tool",
    "tool_input",
    "use_tool",
    "confirm",
    "answer",
    "done",
]
"""What a frame waits for. The steps of the paper are worked on; `waiting`, `children` and `twin` wait for others."""

WORK: tuple[Stage, ...] = ("rewrite", "split", "recall", "pick_tool", "tool_input", "use_tool", "confirm", "answer")
"""The stages in which a frame is worked on; each is the name of its node."""


class Fact(TypedDict):
    """A question with its answer: what Algorithm 1 hands on. A failed one is told by its error and never shown."""

    id: str
    question: str
    answer: str
    origin: Origin
    error: str


class Frame(TypedDict):
    """One call of Algorithm 1's `promptf`, kept as data.

    `id` is the path of numbers from the root, e.g. `0-2-1`; `allowance` is how many questions its subtree may still
    open; `asked` is the question as the split worded it; `tries` counts calls of this step that did not go through;
    `complaint` is why the last input was refused; `ticket` marks a use of a tool that this process has begun.
    """

    id: str
    parent: str
    question: str
    asked: str
    depth: int
    stage: Stage
    may_split: bool
    allowance: int
    needs: list[str]
    children: list[str]
    twin: str
    tool: str
    arguments: dict[str, Any]
    complaint: str
    ticket: str
    tries: int
    answer: str
    origin: Origin
    error: str


class ToolReply(TypedDict):
    """What a tool replied: text for the model, and the passages of a search."""

    tool: str
    text: str
    passages: list[Passage]


class Node(TypedDict):
    """A question of the finished tree."""

    id: str
    parent: str
    question: str
    answer: str
    origin: Origin
    tool: str
    error: str
    children: list[str]


class Task(TypedDict):
    """What one step on one frame is sent: the frame, and what it knows."""

    frame: Frame
    turn: int
    facts: list[Fact]
    ancestors: list[str]
    reply: ToolReply | None
    settings: dict[str, Any]
    seconds: float | None
    repair: bool


def merge_by_id(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Joins two tables by their keys; the same row twice stays one row, so a replayed step changes nothing."""
    return {**(old or {}), **new}


class RebelInput(TypedDict):
    """What a run is given."""

    question: str


class RebelOutput(TypedDict):
    """What a run gives back."""

    answer: str
    citations: list[Citation]
    evidence: list[Passage]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped
    tree: dict[str, Node]
    facts: list[Fact]


class RebelState(TypedDict):
    """The memory of the recursion."""

    question: str
    settings: dict[str, Any]
    turn: int
    forced: bool
    scheduled: list[str]
    frames: Annotated[dict[str, Frame], merge_by_id]
    replies: Annotated[dict[str, ToolReply], merge_by_id]
    ledger: Annotated[dict[str, Usage], merge_by_id]
    answer: str
    citations: list[Citation]
    evidence: list[Passage]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped
    tree: dict[str, Node]
    facts: list[Fact]


class RebelUpdate(TypedDict, total=False):
    """What a node may change; a misspelt key fails the type check, where LangGraph would drop it silently."""

    question: str
    settings: dict[str, Any]
    turn: int
    forced: bool
    scheduled: list[str]
    frames: dict[str, Frame] | Overwrite
    replies: dict[str, ToolReply] | Overwrite
    ledger: dict[str, Usage] | Overwrite
    answer: str
    citations: list[Citation]
    evidence: list[Passage]
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped
    tree: dict[str, Node]
    facts: list[Fact]


def fresh(question: str, settings: RebelSettings, root: Frame) -> RebelUpdate:
    """The state before the first step; it clears what an earlier question left on the thread."""
    return RebelUpdate(
        question=question,
        settings=settings.model_dump(),
        turn=0,
        forced=False,
        scheduled=[],
        frames=Overwrite({root["id"]: root}),
        replies=Overwrite({}),
        ledger=Overwrite({}),
        answer="",
        citations=[],
        evidence=[],
        messages=[],
        usage=no_usage(),
        tree={},
        facts=[],
    )


def settings_of(state: RebelState | Task) -> RebelSettings:
    """The settings that the run began with; they are kept in the state, so that a resumed run has the same ones."""
    return RebelSettings(**state["settings"])


def budget_of(settings: RebelSettings) -> Budget:
    """What a run with these settings may spend."""
    return settings.budget()
