"""What a script is made of: what it looks for in a prompt, what it replies, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage

from langgraph_evidence.llm.prompt import PromptCall

Where = Callable[[PromptCall], bool]


@dataclass(frozen=True)
class Asks:
    """Matches the calls of a prompt by its name and values, whatever its words; a reply's function gets both.

    Args:
        name: Of the prompt; `*` stands for any letters, as in `rebel.answer*`.
        where: What else must hold of the call; None takes all.
    """

    name: str
    where: Where | None = None


Match = str | re.Pattern[str] | Callable[[str], bool] | Asks
Scripted = str | AIMessage
ReplyOf = Scripted | Sequence[Scripted] | Callable[[Any, int], Scripted]


class ScriptedFailure(Exception):
    """A failed HTTP call, as providers' clients raise it.

    Args:
        status: The HTTP status.
        retry_after: The Retry-After header, in seconds.
    """

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"scripted status {status}")
        self.status_code = status
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        self.response = SimpleNamespace(status_code=status, headers=headers)


@dataclass
class Fault:
    """Something that goes wrong with the calls that it matches.

    Args:
        match: As in a rule.
        status: Fails with this HTTP status.
        retry_after: The Retry-After header of that failure, in seconds.
        error: Fails with this exception.
        hang: Waits so many seconds before it goes on.
        garbage: Replies this instead of the rule's reply.
        body: The same, and a scripted server sends it as the whole body of its HTTP 200.
        times: How many calls it meets; None for all.
    """

    match: Match = ""
    status: int | None = None
    retry_after: float | None = None
    error: BaseException | None = None
    hang: float = 0.0
    garbage: str | None = None
    body: str | None = None
    times: int | None = 1

    def failure(self) -> BaseException | None:
        """The exception to raise, if any."""
        return self.error if self.status is None else ScriptedFailure(self.status, self.retry_after)

    def reply(self) -> Scripted | None:
        """What is replied instead of the rule's reply, if anything."""
        if self.body is None:
            return self.garbage
        return AIMessage(self.body, response_metadata={"body": True})


def matches(match: Match, text: str, prompt: PromptCall | None) -> bool:
    """Whether a call with this text, of this prompt where one is known, is meant."""
    if isinstance(match, Asks):
        if prompt is None or not fnmatchcase(prompt.name, match.name):
            return False
        return match.where is None or match.where(prompt)
    if callable(match):
        return bool(match(text))
    pattern = re.compile(match, re.DOTALL) if isinstance(match, str) else match
    return pattern.search(text) is not None


def pick(reply: ReplyOf, asked: str | PromptCall, index: int) -> Scripted:
    """The reply of this number to a text, or to a prompt where the rule names one."""
    if callable(reply):
        return reply(asked, index)
    if isinstance(reply, str | AIMessage):
        return reply
    return reply[index % len(reply)]
