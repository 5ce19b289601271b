"""What a round works on: the frames that are ready and the budget allows, what each is sent, what all have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from langgraph_evidence.methods.rebel.frames import ROOT, in_order, known_facts, line_of
from langgraph_evidence.methods.rebel.state import FREE, WORK, Frame, RebelState, Task
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.budget import Allowance
    from langgraph_evidence.methods.rebel.settings import RebelSettings
    from langgraph_evidence.run import Cut, MethodRun

_ROUND_STEPS = 2  # one of the work's, then advance


def is_last(frame: Frame) -> bool:
    """Whether this is the answer to the question itself."""
    return frame["id"] == ROOT and frame["stage"] == "answer"


class Kept(TypedDict):
    """What a round keeps back for the last answer: calls, and time unless it is the last answer."""

    kept: int
    last: bool


def kept_for(found: Sequence[Frame]) -> Kept:
    """A call is kept back where others are asked for; a tool alone asks for none."""
    last = any(is_last(frame) for frame in found)
    return Kept(kept=0 if last or all(frame["stage"] in FREE for frame in found) else 1, last=last)


def within_calls(found: Sequence[Frame], calls: int) -> list[Frame]:
    """The first of the frames: those that ask no model, and so many that do."""
    asking = [frame["id"] for frame in found if frame["stage"] not in FREE][:calls]
    return [frame for frame in found if frame["stage"] in FREE or frame["id"] in asking]


def row_of(number: int, frame: Frame) -> str:
    """The row of the ledger of a step on a frame."""
    return f"{number}.{frame['id']}"


def not_yet_made(state: RebelState) -> list[Frame]:
    """The frames of a round whose step is still to be made."""
    frames = [state["frames"][name] for name in state["scheduled"]]
    return [f for f in frames if f["stage"] in WORK and row_of(state["round"], f) not in state["ledger"]]


def task_of(state: RebelState, frame: Frame, settings: RebelSettings, allowance: Allowance) -> Task:
    """What the step on a frame is sent."""
    frames = state["frames"]
    return Task(
        frame=frame,
        round=state["round"],
        facts=known_facts(frames, frame, settings),
        ancestors=[above["question"] for above in line_of(frames, frame)[:-1]],
        reply=state["replies"].get(frame["id"]) if frame["stage"] == "answer" else None,
        settings=state["settings"],
        calls=allowance.calls,
        seconds=allowance.seconds,
    )


def cut_before(
    run: MethodRun[RebelSettings], state: RebelState, frames: Mapping[str, Frame], found: list[Frame]
) -> Cut:
    """Why the answer has to be forced now, or nothing; its call and its steps are kept back for it."""
    if not found:
        return ""
    if any(frame["late"] for frame in frames.values()):
        return "budget"
    return run.cut_of(state, steps=0 if is_last(found[0]) else _ROUND_STEPS, **kept_for(found))


def last_answer(run: MethodRun[RebelSettings], state: RebelState, root: Frame) -> list[Frame]:
    """The question itself, to be answered from the facts there are, unless there is no time even for that."""
    begun = is_last(root) and root["late"]
    if begun or not run.affordable(state, wanted=1, kept=0, last=True) or not run.has_steps(state, steps=0):
        return []
    return [Frame({**root, "stage": "answer", "tool": "", "late": False})]


def evidence_of(state: RebelState) -> list[Passage]:
    """The passages of all searches and the replies of all other tools, each once, in the order of the tree."""
    found: dict[str, Passage] = {}
    for frame in in_order(state["frames"]):
        reply = state["replies"].get(frame["id"])
        if reply is None or reply.get("nothing_found"):
            continue
        whole = Passage(id=f"tool:{frame['id']}", title=reply["tool"], text=reply["text"])
        for passage in reply["passages"] or ([whole] if reply["text"].strip() else []):
            found.setdefault(passage["id"], Passage({**passage, "query": frame["question"]}))
    return list(found.values())
