"""What an RQ-RAG run carries from node to node: the tree of paths, as plain data that can be stored and resumed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from langgraph_evidence.methods.rq_rag.protocol import Action
from langgraph_evidence.methods.rq_rag.selection import Failure, Selection, Trajectory
from langgraph_evidence.methods.rq_rag.settings import SelectionName
from langgraph_evidence.run import RunOutput, RunState, merge_by_id
from langgraph_evidence.types import Passage

Stage = Literal["choose", "chosen", "refine", "retrieve", "retrieved", "answer", "inner", "answered", "failed"]
"""Where a path is: its actions are asked for and known, its query is asked for, searched for and has been, its answer
is asked for; then it has grown on, is answered, or has failed."""

WORK: tuple[Stage, ...] = ("choose", "refine", "retrieve", "answer")
"""The stages that ask a model or a retriever; each is the name of its node. From the others `grow` moves on."""

FREE: tuple[Stage, ...] = ("retrieve",)
"""Those of them that ask no model, and so cost no call."""


class Token(TypedDict):
    """A generated token: its log-probability, and that of the likeliest token in its place."""

    logprob: float
    likeliest: float


class Proposal(TypedDict):
    """An action that a path may take, and its log-probability where the model gives one."""

    action: Action
    logprob: float | None


class Path(TypedDict):
    """A node of the tree: the action that led to it, and what came of it.

    `id` is the path of branch numbers from the root, e.g. `0-2-1`; `depth` counts its searches; `proposals` are the
    actions to be tried next; `evidence` holds the ids of what its query found; `generated` are the tokens that the
    model wrote for its action and query or for its answer, and `final` those of the answer alone, null without
    log-probabilities; `tries` counts calls of this stage that did not go through; `late` says that the run's deadline
    cut it, `last` that it is the answer of a run that is cut.
    """

    id: str
    parent: str
    depth: int
    stage: Stage
    action: Action | Literal[""]
    proposals: list[Proposal]
    query: str
    evidence: list[str]
    answer: str
    generated: list[Token] | None
    final: list[Token] | None
    failure: Failure
    why: str
    tries: int
    late: bool
    last: bool


class RqRagOutput(RunOutput):
    """What a run gives back; `selected_by` is the selection that decided, `selections` what each of them says."""

    trajectories: list[Trajectory]
    selections: dict[SelectionName, Selection]
    selected_by: str


class RqRagState(RunState, total=False):
    """The memory of a run: the paths by their ids, the passages that they found, and the round that is at work."""

    question: str
    round: int
    scheduled: list[str]
    paths: Annotated[dict[str, Path], merge_by_id]
    passages: Annotated[dict[str, Passage], merge_by_id]
    trajectories: list[Trajectory]
    selections: dict[SelectionName, Selection]
    selected_by: str


class Taken(TypedDict):
    """A finished step above a path: its action, its query and the passages it brought."""

    action: Action
    query: str
    passages: list[Passage]


class Task(TypedDict):
    """What one step on one path is sent: the path, the steps above it, and what its call may spend.

    `alone` says that no other path is at work and none is answered: its failure is the run's.
    """

    path: Path
    round: int
    question: str
    steps: list[Taken]
    alone: bool
    settings: dict[str, Any]
    calls: int | None
    seconds: float | None
