"""What one `ask` or `sample` may still spend, over all its requests and their failed tries."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from langgraph_evidence.budget import UNLIMITED

if TYPE_CHECKING:
    from langgraph_evidence.budget import Allowance


class Spending:
    """Counts an allowance down; requests that are under way at the same time on one loop share it.

    Args:
        allowance: What may be spent.
        first_tries: Tries that are made whatever the allowance says; only what it grants beyond them can be taken.
    """

    def __init__(self, allowance: Allowance = UNLIMITED, *, first_tries: int = 1) -> None:
        self._started = time.monotonic()
        self._seconds = allowance.seconds
        self._spare = None if allowance.calls is None else max(allowance.calls - first_tries, 0)

    def seconds(self) -> float:
        """The time since it began."""
        return time.monotonic() - self._started

    def seconds_left(self) -> float | None:
        """The time that is left, or None without a limit."""
        return None if self._seconds is None else max(self._seconds - self.seconds(), 0.0)

    def take(self) -> bool:
        """Takes one more try, where calls and time are left for it."""
        if self._spare == 0 or self.seconds_left() == 0:
            return False
        self.give_back(-1)
        return True

    def give_back(self, tries: int = 1) -> None:
        """Returns a try that cost nothing, as one that a cache answered."""
        if self._spare is not None:
            self._spare += tries
