"""FuRePA's prompts as the offline model replies to them: extraction and a learned planner in the paper's protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph_evidence.llm.offline.answers import find_answer
from langgraph_evidence.llm.offline.hops import plan
from langgraph_evidence.methods.furepa import prompts

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from langgraph_evidence.llm.offline import Responder


def _first(values: Mapping[str, Any], temperature: float, rng: random.Random) -> str:
    return f"[Search] {plan(values['question'].strip(), ()).query(temperature, rng)}"


def _next(
    values: Mapping[str, Any],
    temperature: float,
    rng: random.Random,
    *,
    forced: bool = False,
    analysis: bool = True,
) -> str:
    question = values["question"].strip()
    evidence = tuple(line.strip() for line in values["context"] if line.strip())
    plans = plan(question, evidence)
    if forced or plans.answers(temperature, rng):
        found = find_answer(question, evidence)
        thought = f"{found.quote} Then we have the answer to the question.".strip()
        last = f"[Answer] {found.text or question}"
    else:
        query = plans.query(temperature, rng)
        thought, last = f"{plans.known} Then we need to know: {query}.".strip(), f"[Search] {query}"
    return f"[Analysis] {thought}\n{last}" if analysis else last


RESPONDERS: dict[str, Responder] = {
    prompts.FIRST.name: _first,
    prompts.NEXT.name: _next,
    prompts.NEXT_HISTORY.name: _next,
    prompts.NEXT_HISTORY_SCRATCH.name: _next,
    prompts.NEXT_NO_COT.name: partial(_next, analysis=False),
    prompts.FORCE.name: partial(_next, forced=True),
    prompts.FORCE_HISTORY.name: partial(_next, forced=True),
    prompts.FORCE_NO_COT.name: partial(_next, forced=True, analysis=False),
}
"""One entry a prompt."""
