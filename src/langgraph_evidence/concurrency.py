"""One body of code for `invoke` and `ainvoke`: coroutines on the caller's loop, or on one long-lived loop of ours.

A synchronous graph run has no event loop, and `asyncio.run` per call breaks HTTP clients that outlive it. Nodes are
therefore written once as coroutines; under `invoke` they run on a single background loop, where `call_either` uses the
synchronous face of a model or retriever in a thread, so that no client is ever shared between two loops.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.runnables import RunnableLambda

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

T = TypeVar("T")

# Threads only wait for a model or a retriever here, so there may be many more of them than cores.
_THREADS = 64


class _Background:
    """The loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="evidence"))
        threading.Thread(target=self.loop.run_forever, name="evidence-loop", daemon=True).start()


_lock = threading.Lock()
# One a process, by its id: a fork inherits neither loop nor thread.
_backgrounds: dict[int, _Background] = {}


def _get_background() -> _Background:
    with _lock:
        process = os.getpid()
        if process not in _backgrounds:
            _backgrounds[process] = _Background()
        return _backgrounds[process]


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end from synchronous code, keeping the caller's context variables.

    It may be called while another event loop is running in this thread; it must not be called from the background loop
    itself, which would wait for itself.
    """
    background = _get_background()
    context = contextvars.copy_context()
    outcome: Future[T] = Future()

    async def _run() -> None:
        try:
            outcome.set_result(await coroutine)
        except BaseException as error:  # noqa: BLE001 - carried to the caller's thread and raised there
            outcome.set_exception(error)

    background.loop.call_soon_threadsafe(partial(background.loop.create_task, _run(), context=context))
    return outcome.result()


def _on_background_loop() -> bool:
    background = _backgrounds.get(os.getpid())
    return background is not None and asyncio.get_running_loop() is background.loop


async def call_either(
    sync: Callable[..., T], asynchronous: Callable[..., Awaitable[T]], *args: Any, **kwargs: Any
) -> T:
    """Calls the asynchronous face on the caller's own loop, the synchronous one in a thread on the background loop."""
    if not _on_background_loop():
        return await asynchronous(*args, **kwargs)
    context = contextvars.copy_context()
    call = partial(context.run, partial(sync, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(None, call)


def node(body: Callable[[Any], Coroutine[Any, Any, T]]) -> RunnableLambda[Any, T]:
    """Makes a LangGraph node that works under `invoke` and `ainvoke` from one coroutine function of the state."""

    def sync(state: Any) -> T:
        return run_sync(body(state))

    return RunnableLambda(sync, afunc=body, name=body.__name__)


async def gather(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Awaits all, in order; when one fails the others are cancelled before its error is raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
