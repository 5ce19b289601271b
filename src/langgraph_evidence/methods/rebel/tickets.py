"""Tells a use of a tool that this process begins from one that an earlier process may have begun.

A ticket is written into the state one step before the tool is used, and is good once, in this process. A run that was
killed and resumed finds a ticket that is not: whether that use went through nobody knows, and a human is asked.
"""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

from langgraph.types import interrupt

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


def confirmed(frame: Frame, *, limit: int) -> Done:
    """Asks a human whether a use of a tool that may already have happened is to be repeated.

    The answer is "repeat", "skip", or `{"reply": text}` with what the tool is known to have replied; whatever else is
    given, the use is not repeated.

    Args:
        frame: What the tool is used for.
        limit: So many characters of a told reply are kept.
    """
    return _decided(frame["tool"], interrupt(_question_about(frame)), limit=limit)


def _question_about(frame: Frame) -> dict[str, Any]:
    return {
        "ask": "This use of a tool may already have happened when the run broke off. Repeat it, or skip it?",
        "id": frame["id"],
        "question": frame["question"],
        "tool": frame["tool"],
        "arguments": frame["arguments"],
        "answers": ["repeat", "skip", {"reply": "what the tool replied"}],
    }


def _decided(tool: str, decision: Any, *, limit: int) -> Done:
    if decision == "repeat":
        return Done(StepOutcome("repeat", {"ticket": ""}))
    if isinstance(decision, dict) and isinstance(decision.get("reply"), str):
        text = decision["reply"][:limit]
        return Done(StepOutcome("told", {"ticket": ""}), reply=ToolReply(tool=tool, text=text, passages=[]))
    return Done(StepOutcome("skip", {"error": f"The tool {tool} was in use when the run broke off; not repeated."}))
