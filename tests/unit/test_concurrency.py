"""One body for both faces: loops, threads, context variables, errors, processes."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading

import pytest

from langgraph_evidence.concurrency import call_either, gather, node, run_sync

marker: contextvars.ContextVar[str] = contextvars.ContextVar("marker", default="unset")


async def where() -> tuple[str, str]:
    def sync() -> str:
        return "sync"

    async def asynchronous() -> str:
        return "async"

    return await call_either(sync, asynchronous), threading.current_thread().name


def test_under_invoke_the_synchronous_face_is_used_on_one_lasting_loop() -> None:
    assert run_sync(where()) == ("sync", "evidence-loop")
    loops = {run_sync(asyncio.sleep(0, result=i)) for i in range(3)}
    assert loops == {0, 1, 2}


async def test_under_ainvoke_the_asynchronous_face_is_used_on_the_callers_loop() -> None:
    face, thread = await where()
    assert face == "async"
    assert thread == threading.current_thread().name


async def test_a_node_has_both_faces_also_inside_a_running_loop() -> None:
    async def body(state: int) -> tuple[int, str]:
        return state + 1, marker.get()

    marker.set("mine")
    assert node(body).invoke(1) == (2, "mine")
    assert await node(body).ainvoke(1) == (2, "mine")


def test_context_reaches_threads_of_the_synchronous_face() -> None:
    marker.set("deep")

    async def body() -> str:
        return await call_either(marker.get, None)  # type: ignore[arg-type]  # never called here

    assert run_sync(body()) == "deep"


def test_errors_come_back_as_they_are() -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        run_sync(fail())


def test_waits_are_at_the_same_time_in_the_synchronous_face() -> None:
    barrier = threading.Barrier(40, timeout=20)

    async def body() -> list[int]:
        return await gather([call_either(barrier.wait, None) for _ in range(40)])  # type: ignore[arg-type]  # never called here

    assert sorted(run_sync(body())) == list(range(40))


async def test_gather_cancels_the_rest_when_one_fails() -> None:
    cancelled = asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        await gather([slow(), fail()])
    await asyncio.wait_for(cancelled.wait(), 5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded")
def test_a_fork_gets_a_loop_of_its_own() -> None:
    run_sync(asyncio.sleep(0))
    child = os.fork()
    if child == 0:
        os._exit(0 if run_sync(asyncio.sleep(0, result=7)) == 7 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
