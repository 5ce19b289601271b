"""An answer that what was found does not support: a tool is asked about the question itself, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from langgraph_evidence.methods.rebel import events
from langgraph_evidence.methods.rebel.frames import ROOT, Frames, Moves, learned
from langgraph_evidence.methods.rebel.rounds import evidence_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.methods.rebel.settings import RebelSettings
    from langgraph_evidence.methods.rebel.state import Frame, RebelState
    from langgraph_evidence.run import MethodRun

STEPS = 6
"""Super-steps that a doubt takes before the last answer: pick_tool, tool_input, use_tool, each with its `advance`."""


async def in_doubt(run: MethodRun[RebelSettings], state: RebelState, tools: Sequence[str], moves: Moves) -> Frames:
    """The question itself, to be asked of a tool, where it is answered and what was found does not support the answer.

    Algorithm 1 ends there. It is doubted once, where a tool is still to be asked and the run can pay for it; an answer
    for which nothing was searched is the model's own and stands (section 3.3).
    """
    root, evidence = state["frames"][ROOT], evidence_of(state)
    if not (evidence and may_doubt(root, tools)) or state["cut"] or run.cut_of(state, steps=STEPS):
        return {}
    why = await run.doubts({**state, "evidence": evidence}, root["answer"])
    if not why:
        return {}
    events.doubt({"answer": root["answer"], "why": why})
    return {ROOT: doubted(root, moves)}


def may_doubt(root: Frame, tools: Sequence[str]) -> bool:
    """Whether an answer may be doubted: once, and where a tool is still to be asked about the question itself."""
    return root["stage"] == "done" and bool(root["answer"] and tools) and not root["doubted"] and not root["tool"]


def doubted(root: Frame, moves: Moves) -> Frame:
    """The question itself with its answer in doubt."""
    stage = moves["answer"]["not supported"]
    return cast("Frame", {**root, **learned("", "failed"), "doubted": root["answer"], "stage": stage})
