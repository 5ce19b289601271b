"""What a run may spend, and what it has spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.types import Usage, no_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def total_usage(rows: Iterable[Usage]) -> Usage:
    """Adds up the usage of a run's steps."""
    total = no_usage()
    for row in rows:
        total = Usage(
            calls=total["calls"] + row["calls"],
            cached_calls=total["cached_calls"] + row["cached_calls"],
            input_tokens=total["input_tokens"] + row["input_tokens"],
            output_tokens=total["output_tokens"] + row["output_tokens"],
            seconds=total["seconds"] + row["seconds"],
        )
    return total


def spent(ledger: Mapping[str, Usage]) -> Usage:
    """What a run has spent, from its ledger of rows `<round>.<call>`.

    The calls of one round run at the same time, so a round takes as long as its slowest call.
    """
    slowest: dict[str, float] = {}
    for key, row in ledger.items():
        name = key.rpartition(".")[0]
        slowest[name] = max(slowest.get(name, 0.0), row["seconds"])
    total = total_usage(ledger.values())
    total["seconds"] = sum(slowest.values())
    return total


class Allowance(NamedTuple):
    """What one call may still spend, its tries and the repair of an unusable reply included; None is no limit."""

    calls: int | None = None
    seconds: float | None = None


UNLIMITED = Allowance()


@dataclass(frozen=True)
class Budget:
    """Limits of one run, None for no limit; checked before each round of calls, by what it will spend at least.

    Args:
        calls: Language-model calls, the cached ones not counted.
        tokens: Tokens in and out together.
        seconds: Time at work: the sum over the run's rounds, so that a paused run spends nothing.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def allows(self, spent: Usage, *, calls: int = 1) -> bool:
        """Whether another round of so many calls may start."""
        return (
            (self.calls is None or spent["calls"] - spent["cached_calls"] + calls <= self.calls)
            and (self.tokens is None or spent["input_tokens"] + spent["output_tokens"] < self.tokens)
            and (self.seconds is None or spent["seconds"] < self.seconds)
        )

    def seconds_left(self, spent: Usage) -> float | None:
        """The time that a call may still take, or None without a limit."""
        return None if self.seconds is None else max(self.seconds - spent["seconds"], 0.0)
