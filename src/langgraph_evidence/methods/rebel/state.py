"""What a REBEL run carries from node to node: the stack of frames, as plain data that can be stored and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from langgraph_evidence.run import RunOutput, RunState, merge_by_id
from langgraph_evidence.types import Passage, Usage

Origin = Literal["memory", "tool", "model", "failed"]
"""Where an answer comes from: earlier facts, a tool's reply, the model's own knowledge; `failed` is no answer."""

Stage = Literal[
    "waiting",
    "rewrite",
    "plain",
    "opened",
    "split",
    "children",
    "duplicate",
    "check",
    "recall",
    "choose",
    "pick_tool",
    "tool_input",
    "use_tool",
    "confirm",
    "stuck",
    "answer",
    "done",
]
"""Where a frame is in Algorithm 1; what each stage does and where it leads is the table in `graph.py`."""

WORK: tuple[Stage, ...] = ("rewrite", "split", "recall", "pick_tool", "tool_input", "use_tool", "confirm", "answer")
"""The stages that ask a model, a tool or a human; each is the name of its node. From the others `advance` moves on."""

FREE: tuple[Stage, ...] = ("use_tool", "confirm")
"""Those of them that ask no model, and so cost no call."""


class StepOutcome(NamedTuple):
    """How a stage ended, in the table's word, and what it changed of its frame."""

    word: str
    changes: Mapping[str, Any] = MappingProxyType({})


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
    `complaint` is why the last input was refused; `ticket` marks a use of a tool that this process has begun; `late`
    says that the run's deadline cut this step; `doubted` is an answer that what was found does not support.
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
    duplicate: str
    tool: str
    arguments: dict[str, Any]
    complaint: str
    ticket: str
    tries: int
    late: bool
    answer: str
    doubted: str
    origin: Origin
    error: str


class ToolReply(TypedDict):
    """What a tool replied: text for the model, and the passages of a search.

    `nothing_found` says that it was a search and brought none: its text is then no evidence of anything.
    """

    tool: str
    text: str
    passages: list[Passage]
    nothing_found: NotRequired[bool]


class Done(NamedTuple):
    """What a step came to: its outcome, what it cost, the frames that it opened, what a tool replied."""

    outcome: StepOutcome
    usage: Usage | None = None
    opened: Mapping[str, Frame] = MappingProxyType({})
    reply: ToolReply | None = None


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
    """What one step on one frame is sent: the frame, what it knows, and what its call may spend."""

    frame: Frame
    round: int
    facts: list[Fact]
    ancestors: list[str]
    reply: ToolReply | None
    settings: dict[str, Any]
    calls: int | None
    seconds: float | None


class RebelOutput(RunOutput):
    """What a run gives back."""

    tree: dict[str, Node]
    facts: list[Fact]


class RebelState(RunState, total=False):
    """The memory of the recursion; `scheduled` names the frames that are worked on in this round."""

    question: str
    round: int
    scheduled: list[str]
    frames: Annotated[dict[str, Frame], merge_by_id]
    replies: Annotated[dict[str, ToolReply], merge_by_id]
    tree: dict[str, Node]
    facts: list[Fact]
