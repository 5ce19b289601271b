"""What a run may spend, what it has spent, and what a call of its next round may spend."""

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


def took(seconds: float) -> Usage:
    """The usage of a step that asks no model."""
    return Usage({**no_usage(), "seconds": seconds})


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


def last_round(ledger: Mapping[str, Usage]) -> list[Usage]:
    """The rows of the last round that asked a model: what the next one is expected to be like."""
    asked = [name for name, row in ledger.items() if row["calls"]]
    last = asked[-1].rpartition(".")[0] if asked else ""
    return [ledger[name] for name in asked if name.rpartition(".")[0] == last]


def pace(ledger: Mapping[str, Usage]) -> float:
    """The seconds that a call may be expected to take: those of the slowest in the last round that asked a model."""
    return max((row["seconds"] for row in last_round(ledger)), default=0.0)


def _tokens(row: Usage) -> int:
    return row["input_tokens"] + row["output_tokens"]


_MANY = 10**9


class Allowance(NamedTuple):
    """What one call may still spend, its tries and the repair of an unusable reply included; None is no limit."""

    calls: int | None = None
    seconds: float | None = None


UNLIMITED = Allowance()


@dataclass(frozen=True)
class Budget:
    """Limits of one run, None for no limit; checked before each round of calls.

    Args:
        calls: Language-model calls, the cached ones not counted.
        tokens: Tokens in and out together.
        seconds: Time at work: the sum over the run's rounds, so that a paused run spends nothing.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def affordable(self, ledger: Mapping[str, Usage], *, wanted: int, kept: int, last: bool = False) -> int:
        """How many of the wanted calls a round may make.

        Args:
            ledger: What the run has spent.
            wanted: How many it would make.
            kept: Calls kept back for a last answer. Time is kept back too, and a round that would most likely be cut is
                not begun.
            last: Whether this is the last answer, for which all was kept.
        """
        used = spent(ledger)
        left = self.calls_left(used)
        wanted = min(wanted, self._token_calls(ledger, used, last=last))
        if self.seconds is not None and self.seconds - used["seconds"] <= 2 * self._kept_seconds(ledger, last=last):
            return 0
        return wanted if left is None else max(min(wanted, left - kept), 0)

    def share(self, ledger: Mapping[str, Usage], *, among: int, kept: int, last: bool = False) -> Allowance:
        """What each of the calls of a round may spend; the arguments are as in `affordable`."""
        used = spent(ledger)
        left, seconds = self.calls_left(used), self.seconds_left(used)
        return Allowance(
            calls=None if left is None else max((left - kept) // max(among, 1), 1),
            seconds=None if seconds is None else max(seconds - self._kept_seconds(ledger, last=last), 0.0),
        )

    def _kept_seconds(self, ledger: Mapping[str, Usage], *, last: bool) -> float:
        """As long as the last round took, and a tenth of the whole at least: the last answer may be slower."""
        return 0.0 if last else max(pace(ledger), (self.seconds or 0.0) / 10)

    def _token_calls(self, ledger: Mapping[str, Usage], used: Usage, *, last: bool) -> int:
        """The calls that the tokens left are enough for, one kept back; prompts grow: each may cost twice the last."""
        if self.tokens is None:
            return _MANY
        left = self.tokens - _tokens(used)
        dearest = 2 * max((_tokens(row) for row in last_round(ledger)), default=0)
        if left <= 0 or last or not dearest:
            return _MANY if left > 0 else 0
        return max(left // dearest - 1, 0)

    def calls_left(self, used: Usage) -> int | None:
        """The calls that may still be made, or None without a limit."""
        return None if self.calls is None else max(self.calls - (used["calls"] - used["cached_calls"]), 0)

    def seconds_left(self, used: Usage) -> float | None:
        """The time that is left, or None without a limit."""
        return None if self.seconds is None else max(self.seconds - used["seconds"], 0.0)
