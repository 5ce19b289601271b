"""How the model is asked for actions, queries and answers: by control tokens if it was trained so, else by prompts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from langgraph_evidence.types import Usage, no_usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.methods.rq_rag.selection import Failure
    from langgraph_evidence.methods.rq_rag.state import Proposal, Task, Token


class Proposed(NamedTuple):
    """The actions that the model would take, the likeliest first; none where its reply was unusable."""

    proposals: list[Proposal]
    usage: Usage


class Wrote(NamedTuple):
    """A query or an answer, or why there is none; its tokens and those of the text alone, where they are known."""

    text: str
    usage: Usage
    generated: list[Token] | None = None
    final: list[Token] | None = None
    failure: Failure = ""
    why: str = ""


class Policy(Protocol):
    """A way to ask the model."""

    async def choose(self, task: Task) -> Proposed:
        """Asks which actions to take at a path, and how likely each is."""
        ...

    async def refine(self, task: Task) -> Wrote:
        """Asks for the query of a path's action."""
        ...

    async def answer(self, task: Task) -> Wrote:
        """Asks for the answer that a path's evidence gives."""
        ...


def no_room(most: int) -> Wrote:
    """What comes of a prompt that the model's context does not hold."""
    return Wrote("", no_usage(), failure="context", why=f"Not even the titles of the passages fit {most} tokens.")


def cut_short(usage: Usage) -> Wrote:
    """What comes of a reply that was cut at its limit of tokens."""
    return Wrote("", usage, failure="truncated", why="The reply was cut at its limit of tokens.")


def tokens_of(rows: Sequence[Mapping[str, Any]] | None) -> list[Token] | None:
    """The log-probabilities of a reply's tokens, where they are given and are some."""
    if not rows:
        return None
    found: list[Token] = []
    for row in rows:
        own = min(float(row["logprob"]), 0.0)
        likeliest = min(max([own, *row["top"].values()]), 0.0)
        if not (math.isfinite(own) and math.isfinite(likeliest)):
            return None
        found.append({"logprob": own, "likeliest": likeliest})
    return found


def tokens_from(rows: Sequence[Mapping[str, Any]] | None, text: str) -> list[Token] | None:
    """Those from the first token of a text on, which stands in the reply: of Y_final, after what precedes it."""
    tokens, start = tokens_of(rows), 0
    written = "".join(str(row["token"]) for row in rows or ())
    place = written.find(text.split()[0]) if text.split() else -1
    if tokens is None or place < 0:
        return None
    for number, row in enumerate(rows or ()):
        start += len(str(row["token"]))
        if start > place:
            return tokens[number:]
    return None
