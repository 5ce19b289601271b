"""What to do next for a question: the queries worth asking, the answer as far as the evidence gives one."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.answers import Found, find_answer
from langgraph_evidence.llm.offline.candidates import Candidate, first_candidates, next_candidates
from langgraph_evidence.llm.offline.evidence import title_of
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.llm.offline.weights import WEIGHTS

if TYPE_CHECKING:
    import random

_SPREAD = 1
_lock = threading.Lock()


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


def plan(question: str, evidence: tuple[str, ...]) -> Plans:
    """Plans the next step; the samples of one prompt, drawn at the same time, share the work."""
    with _lock:
        return _plan(question, evidence)


@lru_cache(maxsize=256)
def _plan(question: str, evidence: tuple[str, ...]) -> Plans:
    asked = analyse(question)
    candidates = next_candidates(asked, evidence) if evidence else first_candidates(asked)
    best: dict[str, float] = {}
    for candidate in candidates:
        if candidate.query.strip():
            best[candidate.query] = max(_score(candidate, evidence), best.get(candidate.query, -math.inf))
    ranked = sorted(best.items(), key=lambda item: -item[1]) or [(question, 0.0)]
    titles = [title for title in map(title_of, evidence) if title]
    known = f"The context is about {', '.join(titles)}." if titles else ""
    return Plans(tuple(ranked), find_answer(asked, evidence), known)


def _score(candidate: Candidate, evidence: tuple[str, ...]) -> float:
    group = candidate.kind.split("_")[0]
    known = WEIGHTS.get(f"kind/{candidate.kind}/{min(len(evidence), 1)}", 0.0)
    return known + sum(WEIGHTS.get(f"{group}/{name}", 0.0) * value for name, value in candidate.features.items())
