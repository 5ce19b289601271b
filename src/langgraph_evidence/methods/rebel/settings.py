"""REBEL's settings: the paper's values, each with its section, and what the paper leaves open."""

from __future__ import annotations

from typing import Literal

from langgraph_evidence.settings import Settings, setting

Memory = Literal["needed", "all"]
"""Which earlier answers a sub-question sees: those it needs, or every one, as in Algorithm 1."""

SplitFormat = Literal["numbered", "commas"]
"""How the model writes sub-questions down: a numbered list, or the paper's commas."""


class RebelSettings(Settings):
    """What a REBEL run can be told."""

    depth: int = setting(
        default=3,
        meaning="levels of sub-questions below the question; 0 never splits",
        source="authors' code (max_level); the paper names it as future work, section 6",
        low=0,
        high=20,
    )
    max_nodes: int = setting(
        default=32,
        meaning="questions in the tree; each split hands equal shares of what is left on",
        source="ours: section 4.2.1 tells of trees that explode",
        low=1,
        high=1000,
    )
    near: float = setting(
        default=0.98,
        meaning="cosine to the question it comes from above which a sub-question is dropped",
        source="section 3, Algorithm 1",
        low=0.0,
        high=1.0,
    )
    split_format: SplitFormat = setting(
        default="numbered",
        meaning="how sub-questions are written down",
        source="ours: appendix A's commas break a sub-question that holds one",
    )
    parallel: bool = setting(
        default=True,
        meaning="answer sub-questions that need no other at the same time",
        source="ours: Algorithm 1 asks one after another; the outcome is the same",
    )
    memory: Memory = setting(
        default="needed",
        meaning="earlier answers that a sub-question sees; 'all' makes each wait for those before it",
        source="ours; 'all' is Algorithm 1",
    )
    rewrite: bool = setting(
        default=True,
        meaning="word a sub-question that leans on others so that it stands alone",
        source="ours: section 4.2.1 tells of lost context",
    )
    grandchildren: bool = setting(
        default=True,
        meaning="keep the facts of sub-questions' own sub-questions",
        source="ours: Algorithm 1 returns a sub-question's own fact alone",
    )
    reuse: bool = setting(
        default=True,
        meaning="answer a question seen before in the tree from its fact",
        source="ours: saves its whole subtree",
    )
    knowledge: bool = setting(
        default=True,
        meaning="let the model answer from its own knowledge; false asks for a fact or a tool",
        source="section 3.2",
    )
    reply_chars: int = setting(
        default=15_000,
        meaning="characters of a tool's reply that are kept",
        source="section 3.5",
        low=100,
        high=10_000_000,
    )
    tool_seconds: float = setting(
        default=60.0,
        meaning="seconds that one use of a tool may take",
        source="ours: not given",
        low=0.01,
        high=86_400.0,
    )
    temperature: float | None = setting(
        default=0.0,
        meaning="temperature of every call; none sends none",
        source="ours: not given (authors' code: 0.2 and 0.4); chance would make parallel and ordered runs differ",
        low=0.0,
        high=2.0,
    )
