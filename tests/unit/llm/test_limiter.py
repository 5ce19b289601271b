"""One limit holds across event loops and threads, and gives every slot back."""

from __future__ import annotations

import asyncio
import threading

import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.limiter import Slots


class _Meter:
    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.lock = threading.Lock()

    async def work(self, slots: Slots, seconds: float = 0.01) -> None:
        async with slots:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            await asyncio.sleep(seconds)
            with self.lock:
                self.now -= 1


def test_holds_over_several_loops_at_once() -> None:
    slots, meter = Slots(3), _Meter()

    async def many() -> None:
        await asyncio.gather(*(meter.work(slots) for _ in range(10)))

    threads = [threading.Thread(target=asyncio.run, args=(many(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert meter.most == 3
    assert meter.now == 0


async def test_first_come_first_served() -> None:
    slots, order = Slots(1), []

    async def take(name: int) -> None:
        async with slots:
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(take(name) for name in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_a_cancelled_waiter_takes_no_slot() -> None:
    slots, meter = Slots(1), _Meter()
    async with slots:
        waiters = [asyncio.create_task(meter.work(slots)) for _ in range(3)]
        await asyncio.sleep(0.01)
        for waiter in waiters:
            waiter.cancel()
        await asyncio.gather(*waiters, return_exceptions=True)
    await asyncio.wait_for(meter.work(slots), 1)


async def test_a_slot_granted_to_a_task_just_cancelled_goes_on_to_the_next() -> None:
    slots, meter = Slots(1), _Meter()
    await slots.__aenter__()
    first = asyncio.create_task(meter.work(slots))
    second = asyncio.create_task(meter.work(slots))
    await asyncio.sleep(0.01)
    await slots.__aexit__(None, None, None)
    first.cancel()
    await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 1)
    assert first.cancelled()
    assert meter.most == 1
    await asyncio.wait_for(meter.work(slots), 1)


def test_no_slots_is_refused() -> None:
    with pytest.raises(InvalidInput, match="max_concurrency=0"):
        Slots(0)
