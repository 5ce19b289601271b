"""What every method's run shares: its memory, its first step and its last, and whether another round may start.

A method inherits `RunState` and `MethodRun` and adds what is its own.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar, cast

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.runtime import get_runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from langgraph_evidence.budget import Allowance, Budget, spent, took
from langgraph_evidence.citations import (
    CitedBy,
    Guess,
    LexicalVerifier,
    checked_by,
    cited_message,
    doubt_of,
    guess_of,
    unchecked,
)
from langgraph_evidence.concurrency import in_thread, node
from langgraph_evidence.errors import InvalidInput, OutOfBudget
from langgraph_evidence.settings import Settings, resolve, schema_of, within
from langgraph_evidence.types import Citation, Conflict, Passage, SentenceSupport, Stopped, Usage, no_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from langgraph_evidence.citations import AnswerVerifier, Checked
    from langgraph_evidence.events import Event

S = TypeVar("S", bound=Settings)

# A check of what is paid for gets so long, whatever the deadline has left: it takes a second or two.
_CHECK_SECONDS = 10.0

Cut = Literal["", "forced", "budget", "step_limit"]
"""Why no further round may start: the method's own last iteration, the budget, the host's step limit."""


def merge_by_id(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Joins two tables by their keys; the same row twice stays one row, so a replayed step changes nothing."""
    return {**(old or {}), **new}


def replaced(table: Mapping[str, Any]) -> Any:
    """The update that puts a table in the place of the old one, where an update would join them."""
    return Overwrite(dict(table))


class QuestionInput(TypedDict):
    """What a run is given."""

    question: str


class RunState(TypedDict, total=False):
    """The memory that every run has; a node gives back the keys that it changes.

    `remaining_steps` is LangGraph's. `settings` are those that the run began with, so that a resumed run has the same.
    `stopped` is empty while it runs.
    """

    remaining_steps: RemainingSteps
    settings: dict[str, Any]
    ledger: Annotated[dict[str, Usage], merge_by_id]
    cut: Cut
    evidence: list[Passage]
    answer: str
    citations: list[Citation]
    sentences: list[SentenceSupport]
    support: float
    conflicts: list[Conflict]
    cited_by: CitedBy
    guess: Guess | None
    messages: list[AIMessage]
    usage: Usage
    stopped: Stopped | Literal[""]


class Answered(TypedDict):
    """How a run ended: what every method's last event tells.

    `guess` is the answer that was not trusted, and `answer` then empty unless the settings ask for the guess.
    """

    answer: str
    citations: list[Citation]
    sentences: list[SentenceSupport]
    support: float
    conflicts: list[Conflict]
    cited_by: CitedBy
    guess: Guess | None
    stopped: Stopped
    usage: Usage


class RunOutput(Answered):
    """What every run gives back."""

    evidence: list[Passage]
    messages: list[AIMessage]


@dataclass(frozen=True)
class MethodRun(ABC, Generic[S]):
    """The nodes that every method has, and the one check before a round.

    Attributes:
        name: The method's name.
        asks_for: The key of its input: a question or a claim.
        last_steps: Super-steps from its loop's head to the end, the last answer among them.
        answered: The event that tells how a run ended.
        may_not_search: Whether its own rule lets the model answer from what it knows.

    Args:
        settings: The values of a run whose `context` says nothing else, and the ceilings of its limits.
        verifier: Gives what checks answers, loaded at the first call; for runs that do not ask for lexical citations.
    """

    name: ClassVar[str]
    asks_for: ClassVar[str] = "question"
    last_steps: ClassVar[int]
    answered: ClassVar[Event[Any]]
    may_not_search: ClassVar[bool] = False

    settings: S
    verifier: Callable[[], AnswerVerifier]

    @abstractmethod
    def fresh(self, asked: str, settings: S) -> Any:
        """The method's own part of the state before the first round."""

    def ending(self, state: Any) -> Any:  # noqa: ARG002 - for the methods that gather what they found only here
        """What the method still has to put into the state before it is concluded."""
        return {}

    def from_knowledge(self, ended: Any) -> bool:  # noqa: ARG002 - for the methods whose rule looks at the run
        """Whether an answer for which the run holds no evidence is the model's own, and stands as such."""
        return self.may_not_search

    def begin(self, state: Any) -> Any:
        """Checks what is asked, fixes the run's settings, and clears what an earlier question left on the thread."""
        asked = state.get(self.asks_for)
        if not isinstance(asked, str) or not asked.strip():
            raise InvalidInput(f"The input needs a non-empty {self.asks_for!r}; it was given {asked!r}.")
        settings = resolve(get_runtime().context, self.settings)
        if settings.citations == "verified":
            self.verifier()  # a host that lacks it is told before anything is paid for
        shared = RunState(
            settings=settings.model_dump(),
            ledger=replaced({}),
            cut="",
            evidence=[],
            answer="",
            citations=[],
            sentences=[],
            support=0.0,
            conflicts=[],
            cited_by=settings.citations,
            guess=None,
            messages=[],
            usage=no_usage(),
            stopped="",
        )
        return {**shared, self.asks_for: asked.strip(), **self.fresh(asked.strip(), settings)}

    def settings_of(self, state: Mapping[str, Any]) -> S:
        """The settings that the run began with; a state that somebody edited does not lift the graph's limits."""
        return within(self.settings, type(self.settings)(**state["settings"]))

    def affordable(self, state: RunState, *, wanted: int, kept: int = 1, last: bool = False) -> int:
        """How many of the wanted calls may be made, when so many are kept back for the last answer."""
        return self._budget(state).affordable(state["ledger"], wanted=wanted, kept=kept, last=last)

    def share(self, state: RunState, *, among: int, kept: int = 1, last: bool = False) -> Allowance:
        """What each of the calls of a round may spend."""
        return self._budget(state).share(state["ledger"], among=among, kept=kept, last=last)

    def cut_of(self, state: RunState, *, steps: int, kept: int = 1, last: bool = False) -> Cut:
        """Why no round of so many super-steps may start, or nothing; what the last answer needs must fit behind it.

        To be asked in a node: where an edge decides after an edit by `update_state`, LangGraph counts no steps.
        """
        if not self.affordable(state, wanted=1, kept=kept, last=last):
            return "budget"
        return "" if self.has_steps(state, steps=steps) else "step_limit"

    def has_steps(self, state: RunState, *, steps: int) -> bool:
        """Whether the host allows so many super-steps more, and then the last answer's."""
        # LangGraph ends a run whose last step has none left, finished or not.
        return state["remaining_steps"] > steps + self.last_steps

    def _budget(self, state: RunState) -> Budget:
        return self.settings_of(state).budget()

    def in_time(self, body: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[Any], Coroutine[Any, Any, Any]]:
        """A node that asks or searches once: its time counts, and where the run's deadline cuts it the run is cut."""

        @functools.wraps(body)
        async def run(state: Any) -> Any:
            started, row = time.monotonic(), f"{len(state['ledger'])}:{body.__name__}.0"
            try:
                update = await body(state)
            except (OutOfBudget, TimeoutError) as late:
                usage = getattr(late, "usage", None) or took(time.monotonic() - started)
                return RunState(cut="budget", ledger={row: usage})
            return {"ledger": {row: took(time.monotonic() - started)}, **update}

        return run

    async def check(self, state: Any, answer: str) -> Checked:
        """The answer against the evidence that the run holds; one that cannot be checked in time is not supported."""
        settings = self.settings_of(state)
        load = LexicalVerifier if settings.citations == "lexical" else self.verifier
        left = self._budget(state).seconds_left(spent(state["ledger"]))
        seconds = None if left is None else max(left, _CHECK_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                return await in_thread(checked_by, load, state[self.asks_for], answer, state["evidence"])
        except TimeoutError:
            return unchecked(f"it took longer than the {seconds:.0f} seconds that max_seconds left for a check.")

    def doubt(self, state: Any, answer: str, checked: Checked) -> str:
        """Why the answer is not to be trusted, or nothing."""
        return doubt_of(checked, answer, state["evidence"], least=self.settings_of(state).min_support)

    async def doubts(self, state: Any, answer: str) -> str:
        """Checks an answer before the run ends with it: why it is not to be trusted, or nothing."""
        return self.doubt(state, answer, await self.check(state, answer))

    async def conclude(self, state: Any) -> Any:
        """Checks the answer, gives it with its citations or declines to, and adds up what the run has spent."""
        own = self.ending(state)
        ended = {**state, **own}
        ended |= await self._outcome(ended)
        self.answered({key: ended[key] for key in self.answered.schema.__annotations__})
        message = cited_message(ended["answer"], ended["citations"], name=self.name)
        return {**own, **{key: ended[key] for key in Answered.__annotations__}, "messages": [message]}

    async def _outcome(self, ended: Any) -> Answered:
        answer, usage = ended["answer"], spent(ended["ledger"])
        checked = await self.check(ended, answer)
        # Nobody but an edit ends a run without saying why.
        stopped: Stopped = ended["stopped"] or ("answered" if answer else "no_answer")
        why = self.doubt(ended, answer, checked) if answer else ""
        if why and not ended["evidence"] and self.from_knowledge(ended):
            why, stopped = "", "own_knowledge" if stopped == "answered" else stopped
        guess = guess_of(checked, answer, why) if why else None
        told = not why or self.settings_of(ended).if_unsupported == "guess"
        return Answered(
            answer=answer if told else "",
            citations=checked.citations if told else [],
            sentences=checked.sentences if told else [],
            support=checked.support,
            conflicts=checked.conflicts if told else [],
            cited_by=checked.cited_by,
            guess=guess,
            stopped="unsupported" if why else stopped,
            usage=usage,
        )

    def builder(self, state: type, *, given: type, output: type) -> StateGraph[Any, Any, Any, Any]:
        """A graph over the method's state, its input and its output, with the first step and the last in place."""
        schema = schema_of(self.settings)
        builder: Any = StateGraph(state, context_schema=schema, input_schema=given, output_schema=output)
        add_nodes(builder, self.begin, self.conclude)
        builder.add_edge(START, "begin")
        builder.add_edge("conclude", END)
        return cast("StateGraph[Any, Any, Any, Any]", builder)


def add_nodes(builder: StateGraph[Any, Any, Any, Any], *bodies: Callable[[Any], Any]) -> None:
    """Adds each body as the node of its name; a coroutine works under `invoke` too."""
    for body in bodies:
        action: Any = node(body) if inspect.iscoroutinefunction(body) else body
        builder.add_node(body.__name__, action)
