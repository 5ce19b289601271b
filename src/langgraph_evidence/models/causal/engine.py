"""Continuous batching: requests that come at the same time share forward passes, joining and leaving between steps.

transformers has a scheduler of its own (`ContinuousBatchingManager`). It pages keys and values for GPUs, draws all
requests from one stream of random numbers, and knows neither adapters, nor allowed tokens, nor the likelihood of a
given text; so this one screen stands in its place. The caches, masks and networks of transformers are used as they
are. Past one machine the same calls go to a vLLM server by its address.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from langgraph_evidence.errors import ModelError
from langgraph_evidence.models.causal.cache import PrefixCache, shared
from langgraph_evidence.models.causal.requests import Call, Request
from langgraph_evidence.models.causal.sampling import Row
from langgraph_evidence.models.causal.slots import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from langgraph_evidence.models.causal.adapters import Adapters
    from langgraph_evidence.models.causal.sampling import SampledToken

T = TypeVar("T")

# A step of 32 rows takes about twice as long as one of 16; more rows than that would mostly wait for each other.
_ROWS = 32
# Rows times the length of the longest: bounds the keys and values in use (46 KB a token of a 135 M model in fp32).
_TOKENS = 2**15
# Prompts that have this many tokens more in common than are known wait for the first of them to be read.
_WORTH = 16
# Seconds without work after which the thread ends; the next request starts another.
_IDLE = 1.0


class Engine:
    """One thread that computes for all callers; it starts with the first request and ends when there is no work.

    Args:
        model: The network; from now on only the engine's thread may use it.
        adapters: What may be laid over it.
        ends: The model's own tokens that end a reply.
        cache_bytes: The most memory for beginnings that may come again.
    """

    def __init__(self, model: Any, adapters: Adapters, ends: Collection[int], *, cache_bytes: int) -> None:
        self._model, self._adapters, self._ends = model, adapters, ends
        self.cache_bytes = cache_bytes
        self._begin()
        atexit.register(_close, weakref.ref(self))

    def _begin(self) -> None:
        # After a fork a child begins anew: the thread is its parent's, and the lock may have been held.
        self._process = os.getpid()
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._calls: deque[Call] = deque()
        self._waiting: list[Request] = []
        self._running: dict[str, tuple[Rows, list[tuple[Request, Row]]]] = {}
        self.cache = PrefixCache(self.cache_bytes)

    def submit(self, request: Request) -> None:
        """Takes a request in; it is served from the next step on."""
        self._wake(lambda: self._waiting.append(request))

    def call(self, work: Callable[[], T]) -> T:
        """Runs other work of the network between two steps, and waits for it."""
        call = Call(work, Future())
        self._wake(lambda: self._calls.append(call))
        result: T = call.outcome.result()
        return result

    def close(self) -> None:
        """Ends the thread after the step it is at."""
        if self._thread is not None and self._process == os.getpid():
            self._closing = True
            with self._news:
                self._news.notify()
            self._thread.join()

    def _wake(self, add: Callable[[], None]) -> None:
        if self._process != os.getpid():
            self._begin()
        with self._news:
            add()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="evidence-engine", daemon=True)
                self._thread.start()
            self._news.notify()

    def _run(self) -> None:
        try:
            with torch.inference_mode():
                while self._has_work():
                    self._turn()
        finally:
            self._leave()

    def _turn(self) -> None:
        while self._calls:
            call = self._calls.popleft()
            self._attempt([call], call.run)
        self._admit()
        for network in list(self._running):
            self._step(network)

    def _has_work(self) -> bool:
        with self._news:
            if not (self._calls or self._waiting or self._running or self._closing):
                self._news.wait(_IDLE)
            busy = bool(self._calls or self._waiting or self._running)
            if not busy:
                self._thread = None
            return busy and not self._closing

    def _leave(self) -> None:
        """Nobody waits for ever: whoever is not served by now is told so."""
        with self._news:
            if self._thread is not threading.current_thread():
                return
            left: list[Request | Call] = [*self._waiting, *self._calls]
            left += [request for _, rows in self._running.values() for request, _ in rows]
            self._waiting, self._thread = [], None
            self._calls.clear()
            self._running.clear()
        for one in left:
            one.close(ModelError("The language model was closed, or failed, while it was asked; ask again."))

    def _admit(self) -> None:
        """Reads the prompts of the requests that may join now, in one forward pass."""
        group = self._next_group()
        with self._news:
            self._waiting = [request for request in self._waiting if not (request in group or request.cancelled)]
        if group and not self._attempt(group, lambda: self._start(group)):
            self._drop_torn(group[0].network)

    def _next_group(self) -> list[Request]:
        waiting = [request for request in self._waiting if not request.cancelled]
        group: list[Request] = []
        for request in waiting:
            if not self._fits(request, group):
                # None overtakes it: one that needs much room would wait for ever.
                break
            if request.network == waiting[0].network and self._goes_with(request, group):
                group.append(request)
        return group

    def _fits(self, request: Request, group: Sequence[Request]) -> bool:
        rows = [row for _, running in self._running.values() for row in running]
        count = len(rows) + sum(len(other.sampling.seeds) for other in group) + len(request.sampling.seeds)
        together = [*group, *(other for other, _ in rows), request]
        longest = max(len(other.prompt) + other.limit for other in together)
        return len(together) == 1 or (count <= _ROWS and count * longest <= _TOKENS)

    def _goes_with(self, request: Request, group: Sequence[Request]) -> bool:
        """Whether prompts are best read together: about as much is new of each, and little of it the same."""
        known = self._known(request)
        new = len(request.prompt) - known
        return all(
            abs(len(other.prompt) - self._known(other) - new) <= max(new, _WORTH)
            and shared(request.prompt, other.prompt) < known + _WORTH
            for other in group
        )

    def _known(self, request: Request) -> int:
        return self.cache.known(request.network, request.prompt[:-1])

    def _start(self, group: Sequence[Request]) -> None:
        network = group[0].network
        self._adapters.use(network)
        # A row of which less is new than of the longest reads some of what is known again, and there are no gaps.
        new = max(len(request.prompt) - self._known(request) for request in group)
        known = [max(0, len(request.prompt) - new) for request in group]
        read = Rows(self._model)
        begun = [self.cache.find(network, one.prompt[:place]) for one, place in zip(group, known, strict=True)]
        read.join(begun, ahead=new)
        scores = read.read([one.prompt[place:] for one, place in zip(group, known, strict=True)])
        running, rows = self._running.setdefault(network, (Rows(self._model), []))
        first = []
        for index, request in enumerate(group):
            request.rows = [Row(request.sampling, number, self._ends) for number in range(len(request.sampling.seeds))]
            self._keep(read, index, request, request.prompt)
            running.join([read.states(index, 0, len(request.prompt))] * len(request.rows))
            first += [(request, row, index) for row in request.rows]
        rows += [(request, row) for request, row, _ in first]
        self._choose([(request, row) for request, row, _ in first], scores[[index for _, _, index in first]])
        self._release(network)

    def _step(self, network: str) -> None:
        running, rows = self._running[network]

        def step() -> None:
            self._adapters.use(network)
            self._choose(rows, running.read([[row.tokens[-1]] for _, row in rows]))

        if self._attempt([request for request, _ in rows], step):
            self._release(network)
        else:
            del self._running[network]

    def _choose(self, rows: Sequence[tuple[Request, Row]], scores: torch.Tensor) -> None:
        """Gives each row its next token, and each request the tokens of its rows."""
        scores = torch.log_softmax(scores.float(), dim=-1)
        steps: dict[Request, list[SampledToken | None]] = {}
        for place, (request, row) in enumerate(rows):
            if not request.cancelled:
                step = steps.setdefault(request, [None] * len(request.rows))
                self._attempt([request], partial(row.draw, scores[place : place + 1], step))
        for request, step in steps.items():
            for row in request.rows:
                row.ended = row.ended or len(row.tokens) == request.limit
            if not request.cancelled:
                request.deliver(step)
            if all(row.ended for row in request.rows):
                request.close()

    def _release(self, network: str) -> None:
        """Takes out the rows that have ended or are waited for no longer, and keeps what they computed."""
        running, rows = self._running[network]
        for place in reversed(range(len(rows))):
            request, row = rows[place]
            if row.ended or request.cancelled:
                tokens = [*request.prompt, *row.tokens][: running.lengths[place]]
                self._keep(running, place, request, tokens)
                running.leave(place)
                rows[place] = rows[-1]
                rows.pop()
        if not rows:
            del self._running[network]

    def _keep(self, rows: Rows, place: int, request: Request, tokens: Sequence[int]) -> None:
        self.cache.keep(request.network, tokens, lambda first, last: rows.states(place, first, last))

    def _drop_torn(self, network: str) -> None:
        """Ends all requests of a network whose rows were left half joined."""
        running, rows = self._running.get(network, (Rows(self._model), []))
        if len(running.lengths) != len(rows):
            for request, _ in rows:
                request.close(ModelError("Memory ran out while requests were joined; ask for fewer at a time."))
            del self._running[network]

    @staticmethod
    def _attempt(waiting: Sequence[Request | Call], work: Callable[[], Any]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - carried to whoever waits and raised there
            for one in waiting:
                one.close(error)
            return False
        return True


def _close(engine: weakref.ref[Engine]) -> None:
    """A thread that computes while the interpreter is taken down would take the process with it."""
    alive = engine()
    if alive is not None:
        alive.close()
