"""FuRePA's prompts as the offline model replies to them: extraction and a learned planner in the paper's protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph_evidence.llm.offline.answers import QuotedAnswer, find_answer
from langgraph_evidence.llm.offline.hops import NextSteps, plan
from langgraph_evidence.methods.furepa import prompts

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from langgraph_evidence.llm.offline import Responder

Planner = Callable[[str, tuple[str, ...]], NextSteps]
"""What to do next for a question with its evidence, a passage a line."""
Finder = Callable[[str, tuple[str, ...]], QuotedAnswer]
"""The answer to a question by its evidence."""


def _first(values: Mapping[str, Any], temperature: float, rng: random.Random, *, planner: Planner) -> str:
    return f"[Search] {planner(values['question'].strip(), ()).query(temperature, rng)}"


def _next(
    values: Mapping[str, Any],
    temperature: float,
    rng: random.Random,
    *,
    planner: Planner,
    finder: Finder,
    forced: bool = False,
    analysis: bool = True,
) -> str:
    question = values["question"].strip()
    evidence = tuple(line.strip() for line in values["context"] if line.strip())
    plans = planner(question, evidence)
    if forced or plans.answers(temperature, rng):
        found = finder(question, evidence)
        thought = f"{found.quote} Then we have the answer to the question.".strip()
        last = f"[Answer] {found.text or question}"
    else:
        query = plans.query(temperature, rng)
        thought, last = f"{plans.known} Then we need to know: {query}.".strip(), f"[Search] {query}"
    return f"[Analysis] {thought}\n{last}" if analysis else last


def responders(planner: Planner = plan, finder: Finder = find_answer) -> dict[str, Responder]:
    """How to reply to each prompt, by a planner and a finder of answers; training plays with its own."""
    following = partial(_next, planner=planner, finder=finder)
    return {
        prompts.FIRST.name: partial(_first, planner=planner),
        prompts.NEXT.name: following,
        prompts.NEXT_HISTORY.name: following,
        prompts.NEXT_HISTORY_SCRATCH.name: following,
        prompts.NEXT_NO_COT.name: partial(following, analysis=False),
        prompts.FORCE.name: partial(following, forced=True),
        prompts.FORCE_HISTORY.name: partial(following, forced=True),
        prompts.FORCE_NO_COT.name: partial(following, forced=True, analysis=False),
    }


RESPONDERS = responders()
"""One entry a prompt."""
