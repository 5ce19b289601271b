"""What to do next for a question: the queries worth asking, the answer as far as the evidence gives one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.answers import Found, find_answer
from langgraph_evidence.llm.offline.evidence import bridges, met, residual, title_of
from langgraph_evidence.llm.offline.questions import Question, analyse

if TYPE_CHECKING:
    import random

_SPREAD = 1.0


@dataclass(frozen=True)
class Plans:
    """Everything a reply can be drawn from.

    Args:
        queries: Candidate queries with their scores, the best first.
        found: The answer that the evidence gives.
        known: What the evidence is about, as a sentence.
    """

    queries: tuple[tuple[str, float], ...]
    found: Found
    known: str

    @property
    def answer(self) -> str:
        """The answer's text."""
        return self.found.text

    @property
    def reason(self) -> str:
        """Why this is the answer, in a line."""
        return f"{self.found.quote} Then we have the answer to the question."

    def query(self, temperature: float, chance: random.Random) -> str:
        """The best query, or at a temperature one drawn by the scores."""
        if temperature <= 0:
            return self.queries[0][0]
        top = self.queries[0][1]
        weights = [math.exp((score - top) / (_SPREAD * temperature)) for _, score in self.queries]
        return chance.choices([query for query, _ in self.queries], weights)[0]

    def answers(self, temperature: float, chance: random.Random) -> bool:
        """Whether to answer now: when that is likelier than not, less surely at a higher temperature."""
        surety = min(max(self.found.score, 1e-6), 1 - 1e-6)
        if temperature <= 0:
            return surety >= 0.5
        odds = math.log(surety / (1 - surety)) / temperature
        return chance.random() < 1 / (1 + math.exp(-min(max(odds, -50.0), 50.0)))


@lru_cache(maxsize=256)
def plan(question: str, evidence: tuple[str, ...]) -> Plans:
    """Plans the next step; the samples of one prompt share the work."""
    asked = analyse(question)
    scored = _first(asked) if not evidence else _next(asked, evidence)
    best: dict[str, float] = {}
    for query, score in scored:
        if query.strip():
            best[query] = max(score, best.get(query, -math.inf))
    ranked = sorted(best.items(), key=lambda item: -item[1]) or [(asked.text or question, 0.0)]
    titles = [title for title in map(title_of, evidence) if title]
    known = f"The context is about {', '.join(titles)}." if titles else ""
    return Plans(tuple(ranked), find_answer(asked, evidence), known)


def _first(question: Question) -> list[tuple[str, float]]:
    scored = [(question.text, 1.0)]
    scored += [(clause, 0.8 - 0.1 * index) for index, clause in enumerate(question.clauses)]
    scored += [(name, 0.6 - 0.1 * index) for index, name in enumerate(question.names)]
    if question.sides:
        left, right = question.sides
        scored += [(question.text.replace(right, ""), 1.1), (left, 1.2), (right, 1.2)]
    return scored


def _next(question: Question, evidence: tuple[str, ...]) -> list[tuple[str, float]]:
    left = residual(question, evidence)
    scored = [(question.text, 0.5), (" ".join(left), 0.4)]
    scored += [(f"{side}", 3.0) for side in question.sides or () if not met(side, evidence)]
    for name in question.names:
        if not met(name, evidence):
            scored.append((" ".join([name, *left]), 0.7))
    for bridge in bridges(question, evidence):
        tail = " ".join(word for word in left if word not in bridge.name.lower())
        score = 0.5 + 0.3 * bridge.near - 0.03 * bridge.position
        scored.append((f"{bridge.name} {tail}".strip(), score))
    return scored
