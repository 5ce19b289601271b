"""Tells a use of a tool that this process begins from one that an earlier process may have begun.

A ticket is written into the state one step before the tool is used, and is good once, in this process. A run that was
killed and resumed finds a ticket that is not: whether that use went through nobody knows, and a human is asked.
"""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

from langgraph_evidence.methods.rebel.state import Done, StepOutcome, ToolReply

if TYPE_CHECKING:
    from langgraph_evidence.methods.rebel.state import Frame

_lock = threading.Lock()
_issued: set[str] = set()


def issue() -> str:
    """A ticket for one use."""
    ticket = uuid.uuid4().hex
    with _lock:
        _issued.add(ticket)
    return ticket


def redeem(ticket: str) -> bool:
    """Whether the use may begin: the ticket was issued here and nobody has redeemed it."""
    with _lock:
        known = ticket in _issued
        _issued.discard(ticket)
    return known


def question_about(frame: Frame) -> dict[str, Any]:
    """What a human is asked about a use of a tool that may have happened."""
    return {
        "ask": "This use of a tool may already have happened when the run broke off. Repeat it, or skip it?",
        "id": frame["id"],
        "question": frame["question"],
        "tool": frame["tool"],
        "arguments": frame["arguments"],
        "answers": ["repeat", "skip", {"reply": "what the tool replied"}],
    }


def decided(tool: str, decision: Any, *, limit: int) -> Done:
    """What becomes of that use by the human's answer; of a reply that it tells, so many characters are kept."""
    if decision == "repeat":
        return Done(StepOutcome("repeat", {"ticket": ""}))
    if isinstance(decision, dict) and isinstance(decision.get("reply"), str):
        text = decision["reply"][:limit]
        return Done(StepOutcome("told", {"ticket": ""}), reply=ToolReply(tool=tool, text=text, passages=[]))
    return Done(StepOutcome("skip", {"error": f"The tool {tool} was in use when the run broke off; not repeated."}))
