"""Every failure this package raises: its type says who must act, its message says what was given and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph_evidence.types import Usage


class EvidenceError(Exception):
    """Base of all errors raised by this package."""


class InvalidInput(EvidenceError, ValueError):
    """The caller gave something that is not allowed: a wrong setting, an empty question, an unknown name."""


class ResourceError(EvidenceError):
    """A file the run needs (corpus, index, weights, data set) is missing, damaged or of another version."""


class MissingExtra(EvidenceError, ImportError):
    """An optional dependency is needed and not installed; the message names the extra."""


class ModelError(EvidenceError):
    """A call to a language model failed; `usage` is what was spent before, where something was.

    Args:
        message: What failed, against which model, and what to do.
        status: The HTTP status, where there was one.
        transient: Whether the same call may succeed later (time-outs, 429, 5xx, broken connections).
    """

    def __init__(self, message: str, *, status: int | None = None, transient: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.transient = transient
        self.usage: Usage | None = None


class OutOfBudget(ModelError):
    """What a call was given is used up: an outcome of a run with limits, not a fault of the model.

    Args:
        message: Which model, how much time it had, and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, transient=True)


class OutOfTime(OutOfBudget):
    """The seconds that a call was given are used up, or would be before its next try."""


class OutOfCalls(OutOfBudget):
    """The tries that a call was given are used up, all of them failed for passing reasons."""


class ToolError(EvidenceError):
    """A tool's service failed; what the caller's arguments could mend is a LangChain `ToolException` instead.

    Args:
        message: What failed, of which service, and what to do; never a secret, and never a whole URL.
        status: The HTTP status, where there was one.
        transient: Whether the same call may succeed later.
    """

    def __init__(self, message: str, *, status: int | None = None, transient: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.transient = transient


class UnusableReply(EvidenceError):
    """A model answered, but not in the protocol it was asked for; `usage` is what its replies cost, where known.

    Args:
        reason: What was expected and what came, in words that can be sent back to the model.
        reply: The reply as it came.
    """

    def __init__(self, reason: str, *, reply: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.reply = reply
        self.usage: Usage | None = None
