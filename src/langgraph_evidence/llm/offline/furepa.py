"""FuRePA's protocol: `[Search] query` first, then `[Analysis] ...` with `[Search] query` or `[Answer] answer`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.answers import find_answer
from langgraph_evidence.llm.offline.hops import plan

if TYPE_CHECKING:
    import random

_FIRST = re.compile(
    r"To solve this multi-\w+ problem:\s*(.*?)\s*What specific information should I search for", re.DOTALL
)
_NEXT = re.compile(r"\AContext:\n(.*)\nQuestion:\n([^\n]*)(.*)\Z", re.DOTALL)
_FORCED = re.compile(r"No more information can be searched for|answer now", re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """What a prompt of this protocol holds; `forced` asks for an answer whatever the evidence."""

    question: str
    evidence: tuple[str, ...] = ()
    first: bool = False
    forced: bool = False
    analysis: bool = True


def read(system: str, user: str) -> Turn | None:
    """Reads a prompt of FuRePA, or nothing when it is none."""
    first = _FIRST.search(user)
    if first:
        return Turn(first[1], first=True)
    following = _NEXT.match(user)
    if not following or "[Search]" not in system:
        return None
    evidence = tuple(line.strip() for line in following[1].splitlines() if line.strip())
    forced = bool(_FORCED.search(following[3]))
    return Turn(following[2].strip(), evidence, forced=forced, analysis="[Analysis]" in system)


def respond(system: str, user: str, temperature: float, chance: random.Random) -> str | None:
    """Replies to a prompt of FuRePA, or nothing when it is none."""
    turn = read(system, user)
    if turn is None:
        return None
    plans = plan(turn.question, turn.evidence)
    if turn.first:
        return f"[Search] {plans.query(temperature, chance)}"
    if turn.forced or plans.answers(temperature, chance):
        found = find_answer(turn.question, turn.evidence)
        thought = f"{found.quote} Then we have the answer to the question.".strip()
        last = f"[Answer] {found.text or turn.question}"
    else:
        query = plans.query(temperature, chance)
        thought, last = f"{plans.known} Then we need to know: {query}.".strip(), f"[Search] {query}"
    return f"[Analysis] {thought}\n{last}" if turn.analysis else last
