"""One limit on calls in flight that holds across event loops and threads."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Self

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from types import TracebackType


class Slots:
    """A semaphore for coroutines of any loop, first come first served; `asyncio.Semaphore` belongs to a single loop.

    Args:
        count: How many may hold a slot at a time.

    Raises:
        InvalidInput: The count is below one.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise InvalidInput(f"A language model was given max_concurrency={count}; it takes at least 1.")
        self._free = count
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    async def __aenter__(self) -> Self:
        turn: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                return self
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            # A turn that can no longer be cancelled was granted in this very moment: pass it on.
            if not turn.cancel():
                self._release()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._free += 1
                    return
                turn = self._waiting.popleft()
            if turn.set_running_or_notify_cancel():
                turn.set_result(None)
                return
