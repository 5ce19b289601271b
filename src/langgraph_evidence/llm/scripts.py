"""What a script is made of: what it looks for in a prompt, what it replies, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from langchain_core.messages import AIMessage

Match = str | re.Pattern[str] | Callable[[str], bool]
Scripted = str | AIMessage
ReplyOf = Scripted | Sequence[Scripted] | Callable[[str, int], Scripted]


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


def matches(match: Match, text: str) -> bool:
    """Whether a call with this text is meant."""
    if callable(match):
        return bool(match(text))
    pattern = re.compile(match, re.DOTALL) if isinstance(match, str) else match
    return pattern.search(text) is not None
