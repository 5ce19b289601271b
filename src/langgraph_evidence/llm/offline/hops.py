"""What to do next for a question: the queries worth asking, and whether the evidence is enough to answer."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.candidates import proposed
from langgraph_evidence.llm.offline.coverage import coverage
from langgraph_evidence.llm.offline.evidence import title_of
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.llm.offline.weights import Tables, shipped_tables, weigh

if TYPE_CHECKING:
    import random

    from langgraph_evidence.llm.offline.questions import ParsedQuestion

_lock = threading.Lock()

FEWEST = 2
"""Passages that a multi-hop question needs at least."""


@dataclass(frozen=True)
class NextSteps:
    """Everything a reply can be drawn from.

    Args:
        queries: Candidate queries with their scores, the best first.
        ready: How likely the evidence holds all that the question needs.
        known: What the evidence is about, as a sentence.
    """

    queries: tuple[tuple[str, float], ...]
    ready: float
    known: str

    def query(self, temperature: float, rng: random.Random) -> str:
        """The best query, or at a temperature one drawn by the scores."""
        if temperature <= 0:
            return self.queries[0][0]
        top = self.queries[0][1]
        weights = [math.exp((score - top) / temperature) for _, score in self.queries]
        return rng.choices([query for query, _ in self.queries], weights)[0]

    def answers(self, temperature: float, rng: random.Random) -> bool:
        """Whether to answer now: when that is likelier than not, less surely at a higher temperature."""
        surety = min(max(self.ready, 1e-6), 1 - 1e-6)
        if temperature <= 0:
            return surety >= 0.5
        odds = math.log(surety / (1 - surety)) / temperature
        return rng.random() < 1 / (1 + math.exp(-min(max(odds, -50.0), 50.0)))


def plan(question: str, evidence: tuple[str, ...], *, tables: Tables | None = None) -> NextSteps:
    """Plans the next step; the samples of one prompt, drawn at the same time, share the work.

    Args:
        question: The question.
        evidence: Its evidence, a passage a line.
        tables: The weights; the shipped ones when there are none.

    Raises:
        ResourceError: The shipped tables are missing or damaged.
    """
    with _lock:
        return _plan(question, evidence, tables or shipped_tables())


@lru_cache(maxsize=256)
def _plan(question: str, evidence: tuple[str, ...], tables: Tables) -> NextSteps:
    asked = analyse(question)
    best: dict[str, float] = {}
    for candidate in proposed(asked, evidence):
        score = weigh(candidate.named(len(evidence)), tables.query)
        best[candidate.query] = max(score, best.get(candidate.query, -math.inf))
    ranked = sorted(best.items(), key=lambda item: -item[1]) or [(question, 0.0)]
    titles = [title for title in map(title_of, evidence) if title]
    known = f"The context is about {', '.join(titles)}." if titles else ""
    return NextSteps(tuple(ranked), _ready(asked, evidence, tables, best=ranked[0][1]), known)


def _ready(question: ParsedQuestion, evidence: tuple[str, ...], tables: Tables, *, best: float) -> float:
    if len(evidence) < FEWEST:
        return 0.0
    return 1 / (1 + math.exp(-weigh(coverage(question, evidence, best=best), tables.ready)))
