"""The trained form (section 2.3): the model continues its own trajectory from one control token to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.budget import Allowance
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.rq_rag import prompts
from langgraph_evidence.methods.rq_rag.policy import Proposed, Wrote, cut_short, no_room, tokens_from, tokens_of
from langgraph_evidence.methods.rq_rag.protocol import TABLES, read_answer, read_query, stops
from langgraph_evidence.methods.rq_rag.room import limits_within
from langgraph_evidence.methods.rq_rag.settings import RqRagSettings
from langgraph_evidence.methods.rq_rag.state import Proposal
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.llm import LanguageModel
    from langgraph_evidence.llm.replies import Sample
    from langgraph_evidence.methods.rq_rag.protocol import ControlTokens
    from langgraph_evidence.methods.rq_rag.state import Task

# As many as OpenAI's API gives.
_TOP = 20


@dataclass(frozen=True)
class Trained:
    """A model that was trained on trajectories; a reply of another form would come again, and is asked for once.

    Args:
        model: Continues the beginning of a reply, and gives log-probabilities.
    """

    model: LanguageModel

    async def choose(self, task: Task) -> Proposed:
        """Reads the probabilities of the action tokens at the place where one comes next."""
        tokens = tokens_for(task)
        sample = await self._continue(task, first=tokens.actions, max_tokens=1, top_logprobs=_TOP)
        if sample is None:
            return Proposed([], no_usage())
        first = sample.logprobs[0] if sample.logprobs else {"token": sample.text, "logprob": None, "top": {}}
        told = {first["token"]: first["logprob"], **first["top"]}
        known = {action: logprob for token, logprob in told.items() if (action := tokens.action_of(str(token)))}
        ranked = sorted(known, key=lambda action: -(known[action] or 0.0))
        return Proposed([Proposal(action=action, logprob=known[action]) for action in ranked], sample.usage)

    async def refine(self, task: Task) -> Wrote:
        """Continues with the query of an action, to its end."""
        tokens = tokens_for(task)
        sample = await self._continue(task, stop=stops(tokens), max_tokens=settings_of(task).max_new_tokens)
        return _written(task, sample, lambda reply: read_query(reply, tokens))

    async def answer(self, task: Task) -> Wrote:
        """Continues with the final answer, to the end of the turn."""
        tokens = tokens_for(task)
        sample = await self._continue(task, stop=tokens.all, max_tokens=settings_of(task).max_new_tokens)
        return _written(task, sample, lambda reply: read_answer(reply, tokens))

    async def _continue(self, task: Task, *, first: list[str] | None = None, **options: Any) -> Sample | None:
        settings = settings_of(task)
        room = min(settings.max_context_tokens, self.model.provider.context or settings.max_context_tokens)
        limits = limits_within(
            room - settings.max_new_tokens, [task["question"]], task["steps"], most=settings.passage_chars
        )
        if limits is None:
            return None
        action = "" if task["path"]["stage"] == "choose" else task["path"]["action"]
        written = {"tokens": settings.tokens, "steps": task["steps"], "limits": limits, "action": action}
        samples = await self.model.sample(
            prompts.TRAJECTORY,
            {"question": task["question"], "written": written},
            n=1,
            temperature=settings.temperature,
            seeds=None if settings.seed is None else [settings.seed],
            logprobs=True,
            allowance=Allowance(task["calls"], task["seconds"]),
            **self.model.provider.continuing(first=first or ()),
            **options,
        )
        return samples[0]


def settings_of(task: Task) -> RqRagSettings:
    """The settings of the run."""
    return RqRagSettings(**task["settings"])


def tokens_for(task: Task) -> ControlTokens:
    """How the model's tokenizer writes the control tokens."""
    return TABLES[settings_of(task).tokens]


def _written(task: Task, sample: Sample | None, read: Callable[[str], str]) -> Wrote:
    if sample is None:
        return no_room(settings_of(task).max_context_tokens)
    tokens = tokens_for(task)
    # A reply that ran on past a control token was not cut where its text ends.
    if sample.truncated and not any(mark in sample.text for mark in tokens.all):
        return cut_short(sample.usage)
    try:
        text = read(sample.text)
    except UnusableReply as unusable:
        return Wrote("", sample.usage, failure="unusable", why=unusable.reason)
    return Wrote(text, sample.usage, tokens_of(sample.logprobs), tokens_from(sample.logprobs, text))
