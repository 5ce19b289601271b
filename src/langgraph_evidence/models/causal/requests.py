"""What the engine is asked: replies to a prompt, or other work of its network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from langgraph_evidence.models.causal.sampling import Row, SampledToken, Sampling


@dataclass(eq=False, kw_only=True)
class Request:
    """Replies to one prompt, a seed each.

    Args:
        prompt: Token ids.
        limit: The most tokens of a reply.
        sampling: How tokens are chosen.
        network: The adapter, or the base.
        deliver: Given a token of each reply after each step (None for those that have ended), None at the end, or the
            error that ended it all. It runs on the engine's thread and must not block.
    """

    prompt: Sequence[int]
    limit: int
    sampling: Sampling
    network: str
    deliver: Callable[[list[SampledToken | None] | BaseException | None], None]
    cancelled: bool = False
    rows: list[Row] = field(default_factory=list)

    def close(self, error: BaseException | None = None) -> None:
        """Tells whoever waits that nothing more will come."""
        if not self.cancelled:
            self.cancelled = True
            self.deliver(error)


@dataclass(eq=False)
class Call:
    """Other work of the network, and what came of it."""

    work: Callable[[], Any]
    outcome: Future[Any]

    def run(self) -> None:
        """Does it."""
        self.outcome.set_result(self.work())

    def close(self, error: BaseException) -> None:
        """Tells whoever waits that it failed."""
        self.outcome.set_exception(error)
