"""The prompted form: the same tree with any chat model, a prompt for each decision in the place of a control token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph_evidence.budget import Allowance
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.parse import clean
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.methods.rq_rag import prompts
from langgraph_evidence.methods.rq_rag.policy import Proposed, Wrote, cut_short, no_room, tokens_from, tokens_of
from langgraph_evidence.methods.rq_rag.protocol import ACTIONS, REFINEMENTS, Action, neutralised
from langgraph_evidence.methods.rq_rag.room import limits_within
from langgraph_evidence.methods.rq_rag.state import Proposal
from langgraph_evidence.methods.rq_rag.trained import settings_of
from langgraph_evidence.text import unpunctuated
from langgraph_evidence.types import no_usage, passage_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langgraph_evidence.llm import LanguageModel, Reply
    from langgraph_evidence.llm.prompt import Prompt
    from langgraph_evidence.methods.rq_rag.state import Task

T = TypeVar("T")

# Possessive, so that no reply makes them slow.
_ACTION = re.compile(rf"^\W*+(?:\d{{1,2}}\W++)?({'|'.join(ACTIONS)})\b", re.IGNORECASE)
_NEED = re.compile(r"^\W*+retrieval necessity\W++(yes|no)\b\W*+", re.IGNORECASE)
_LABEL = re.compile(
    r"^\W*+(?:(?:quer(?:y|ies) for search engine|(?:decomposed|disambiguated|rewritten) quer(?:y|ies)|query)\s*+:)?+"
    r"\W*+(?:\d{1,2}[.)]\s++)?+",
    re.IGNORECASE,
)
_ANSWER_LABEL = re.compile(r"^\W*+(?:the )?(?:final )?answer(?: is)?\s*+:\s*+", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"^(?:unknown|none|n/?a|not (?:known|stated|given|provided|mentioned)|cannot be (?:determined|answered).*+"
    r"|(?:i|we) (?:do not|don.t|cannot|can.t) (?:know|tell|answer|determine).*+"
    r"|(?:there is )?not enough information.*+)$",
    re.IGNORECASE,
)
_LONGEST = 1_000
_HISTORY = 8_000
# What a reply may take of the context.
_REPLY = 512


@dataclass(frozen=True)
class Prompted:
    """Any chat model: an unusable reply is asked for once more, with the reason.

    Args:
        model: The chat model.
    """

    model: LanguageModel

    async def choose(self, task: Task) -> Proposed:
        """Asks which next steps would help, best first; its reply has no probabilities of actions."""
        values = self._values(task)
        if values is None:
            return Proposed([], no_usage())
        try:
            reply = await self._ask(task, prompts.CHOOSE, values, parse=parse_actions)
        except UnusableReply as unusable:
            return Proposed([], unusable.usage or no_usage())
        return Proposed([Proposal(action=action, logprob=None) for action in reply.value], reply.usage)

    async def refine(self, task: Task) -> Wrote:
        """Asks for the query of an action by its template (Tables 4 to 6), one that was not asked on this path."""
        prompt = prompts.REFINE[task["path"]["action"]]
        parse = partial(parse_query, asked=[step["query"] for step in task["steps"]])
        wrote = await self._write(task, prompt, parse)
        if wrote.failure or wrote.text:
            return wrote
        return wrote._replace(failure="not_needed", why="The model sees no need to search.")

    async def answer(self, task: Task) -> Wrote:
        """Asks for the answer that the evidence gives; without evidence, for what the model knows."""
        wrote = await self._write(task, prompts.ANSWER if task["steps"] else prompts.ANSWER_KNOWN, parse_answer)
        if wrote.failure or wrote.text:
            return wrote
        return wrote._replace(failure="unknown", why="The model does not know.")

    async def _write(self, task: Task, prompt: Prompt, parse: Callable[[str], str]) -> Wrote:
        values = self._values(task)
        if values is None:
            return no_room(settings_of(task).max_context_tokens)
        try:
            reply = await self._ask(task, prompt, values, parse=parse)
        except UnusableReply as unusable:
            return Wrote("", unusable.usage or no_usage(), failure="unusable", why=unusable.reason)
        if reply.truncated:
            return cut_short(reply.usage)
        return Wrote(reply.value, reply.usage, tokens_of(reply.logprobs), tokens_from(reply.logprobs, reply.value))

    def _values(self, task: Task) -> dict[str, Any] | None:
        """What the prompts show; None where the model's context does not hold it."""
        settings, steps = settings_of(task), task["steps"]
        history = quote_lines(settings.history)
        room = min(settings.max_context_tokens, self.model.provider.context or settings.max_context_tokens)
        limits = limits_within(room - _REPLY, [task["question"], *history], steps, most=settings.passage_chars)
        if limits is None:
            return None
        return {
            "question": neutralised(task["question"], limit=20_000),
            "history": history,
            "queries": [neutralised(step["query"]) for step in steps],
            "evidence": [
                quote(passage_line(passage), limit=limit + 200)
                for step, limit in zip(steps, limits, strict=True)
                for passage in step["passages"]
            ],
        }

    async def _ask(
        self, task: Task, prompt: Prompt, values: Mapping[str, Any], *, parse: Callable[[str], T]
    ) -> Reply[T]:
        settings = settings_of(task)
        return await self.model.ask(
            prompt,
            {name: values[name] for name in prompt.variables},
            parse=parse,
            temperature=settings.temperature,
            seed=settings.seed,
            allowance=Allowance(task["calls"], task["seconds"]),
            **({"logprobs": True, "top_logprobs": 5} if settings.logprobs else {}),
        )


def quote_lines(text: str) -> list[str]:
    """The turns of a conversation as data, its last ones where it is long."""
    return [quote(line) for line in text[-_HISTORY:].splitlines() if line.strip()]


def parse_actions(reply: str) -> list[Action]:
    """Reads the next steps, one a line, the best first.

    Raises:
        UnusableReply: There is none.
    """
    found = [match[1].lower() for line in clean(reply).splitlines() if (match := _ACTION.match(line))]
    known: dict[str, Action] = {action: action for action in ACTIONS}
    actions = [known[word] for word in dict.fromkeys(found)]
    if not actions:
        words = ", ".join([*REFINEMENTS, "answer"])
        raise UnusableReply(f"Begin each line with one of these words: {words}.", reply=reply)
    return actions


def parse_queries(reply: str) -> list[str]:
    """Reads the queries, one a line; none where the reply says that no search is needed.

    Raises:
        UnusableReply: There is none.
    """
    lines = clean(reply).splitlines()
    if any((need := _NEED.match(line)) and need[1].lower() == "no" for line in lines):
        return []
    texts = [_LABEL.sub("", _NEED.sub("", line), count=1) for line in lines]
    queries = [neutralised(clean(text)) for text in texts if any(map(str.isalnum, text)) and len(text) <= _LONGEST]
    if not queries:
        raise UnusableReply("Give one search query a line, nothing else.", reply=reply)
    return queries


def parse_query(reply: str, *, asked: Sequence[str]) -> str:
    """Reads the first query that was not asked yet, else the first; nothing where the reply says that none is needed.

    Raises:
        UnusableReply: There is none.
    """
    queries = parse_queries(reply)
    before = {unpunctuated(query) for query in asked}
    return next((query for query in queries if unpunctuated(query) not in before), queries[0] if queries else "")


def parse_answer(reply: str) -> str:
    """Reads an answer; a reply that says it has none is empty.

    Raises:
        UnusableReply: The reply holds no word at all.
    """
    text = _ANSWER_LABEL.sub("", " ".join(clean(reply).split())).strip("*_` ")
    if not any(map(str.isalnum, text)):
        raise UnusableReply("Give the answer in a few words, or the one word: unknown.", reply=reply)
    return "" if _UNKNOWN.match(text.rstrip(".!")) else text
