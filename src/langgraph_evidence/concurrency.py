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
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

T = TypeVar("T")


class _Background:
    """The loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="evidence-loop", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self.loop.run_forever()
            except (KeyboardInterrupt, SystemExit):
                # asyncio throws these out of the loop too; whoever waits for the call is told, and all others go on.
                continue
            return


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
    return await in_thread(sync, *args, **kwargs)


async def in_thread(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Awaits a blocking call in a thread of its own: one that hangs is left behind, and holds no worker of others."""
    context, outcome = contextvars.copy_context(), Future[T]()

    def run() -> None:
        try:
            outcome.set_result(context.run(call, *args, **kwargs))
        except StopIteration as error:
            # No future can carry it: whoever waits for it would wait for ever.
            outcome.set_exception(RuntimeError(f"The call ended in StopIteration: {error!r}"))
        except BaseException as error:  # noqa: BLE001 - carried to whoever waits and raised there
            outcome.set_exception(error)

    # Running already, so that it cannot be cancelled: what a thread brings after its time is set and dropped.
    outcome.set_running_or_notify_cancel()
    threading.Thread(target=run, name="evidence-call", daemon=True).start()
    return await asyncio.wrap_future(outcome)


class Node(RunnableLambda[Any, Any]):
    """A LangGraph node that works under `invoke` and `ainvoke` from one coroutine function of the state.

    LangGraph traces a node and sets its context; `RunnableLambda` would do both again, and looks at the signature of
    its function at every call. Outside a graph it does so.

    Args:
        body: The coroutine function.
    """

    def __init__(self, body: Callable[[Any], Coroutine[Any, Any, Any]]) -> None:
        def sync(state: Any) -> Any:
            return run_sync(body(state))

        super().__init__(sync, afunc=body, name=body.__name__)
        self._body = body

    @override
    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return run_sync(self._body(input)) if _in_graph() else super().invoke(input, config, **kwargs)

    @override
    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await (self._body(input) if _in_graph() else super().ainvoke(input, config, **kwargs))


def _in_graph() -> bool:
    """Whether somebody has set the context of this call, as a graph does for its nodes."""
    return var_child_runnable_config.get() is not None


def node(body: Callable[[Any], Coroutine[Any, Any, Any]]) -> Node:
    """Makes a LangGraph node that works under `invoke` and `ainvoke` from one coroutine function of the state."""
    return Node(body)


async def gather(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Awaits all, in order; when one fails the others are cancelled before its error is raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
