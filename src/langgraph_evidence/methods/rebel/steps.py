"""The steps of Algorithm 1 on one frame (sections 3.1 to 3.5): each takes a task and tells how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langgraph_evidence.budget import Allowance, took
from langgraph_evidence.concurrency import in_thread
from langgraph_evidence.errors import ModelError, OutOfCalls, OutOfTime, UnusableReply
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.methods.rebel import events, prompts, tickets
from langgraph_evidence.methods.rebel.frames import ROOT, fact_of, learned, moved, open_children
from langgraph_evidence.methods.rebel.near_duplicates import near_duplicates
from langgraph_evidence.methods.rebel.protocol import (
    parse_answer,
    parse_input,
    parse_split,
    parse_tool_number,
    parse_wording,
    parse_yes_no,
)
from langgraph_evidence.methods.rebel.rounds import row_of
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.state import Done, Fact, Origin, RebelState, StepOutcome, Task, ToolReply
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from langgraph_evidence.llm import LanguageModel, Reply
    from langgraph_evidence.llm.prompt import Prompt
    from langgraph_evidence.methods.rebel.frames import Moves
    from langgraph_evidence.methods.rebel.near_duplicates import Features
    from langgraph_evidence.methods.rebel.state import Frame
    from langgraph_evidence.methods.rebel.toolbox import Toolbox
    from langgraph_evidence.types import Usage

T = TypeVar("T")

_QUESTION, _ANSWER = 600, 2000


@dataclass(frozen=True)
class Steps:
    """What the steps are made with."""

    model: LanguageModel
    toolbox: Toolbox
    features: Features

    def asking(self) -> tuple[Callable[[Task], Awaitable[Done]], ...]:
        """The steps that ask a model or a tool."""
        first = (self.rewrite, self.split, self.recall)
        return (*first, self.pick_tool, self.tool_input, self.use_tool, self.answer)

    async def split(self, task: Task) -> Done:
        """Splits a question into sub-questions and drops those that ask the same again (section 3.1)."""
        frame, settings = task["frame"], settings_of(task)
        prompt = prompts.SPLIT_COMMAS if settings.split_format == "commas" else prompts.SPLIT
        parse = partial(parse_split, form=settings.split_format)
        try:
            reply = await self._ask(task, prompt, {"tools": self.toolbox.listing()}, parse=parse)
        except UnusableReply as unusable:
            return Done(StepOutcome("split", {"children": []}), unusable.usage)
        texts = [item.text for item in reply.value]
        asked = [*task["ancestors"], frame["question"]]
        check = partial(near_duplicates, near=settings.near, features=self.features)
        dropped = await in_thread(check, texts, asked)
        children = open_children(frame, reply.value, settings, dropped=dropped)
        events.split(
            {
                "id": frame["id"],
                "question": frame["question"],
                "subquestions": {name: child["asked"] for name, child in children.items()},
                "dropped": [text for text, gone in zip(texts, dropped, strict=True) if gone],
            }
        )
        return Done(StepOutcome("split", {"children": list(children)}), reply.usage, children)

    async def rewrite(self, task: Task) -> Done:
        """Words a sub-question so that it stands alone; when that fails it stays as it is."""
        values = {"origin": quote(task["ancestors"][-1], limit=_QUESTION)}
        try:
            reply = await self._ask(task, prompts.WORD, values, parse=parse_wording)
        except UnusableReply as unusable:
            return Done(StepOutcome("not worded"), unusable.usage)
        return Done(StepOutcome("worded", {"question": reply.value}), reply.usage)

    async def recall(self, task: Task) -> Done:
        """Checks whether memory (or the model) holds the answer; no clear yes is a no (section 3.2)."""
        frame = task["frame"]
        prompt = prompts.RECALL if settings_of(task).knowledge else prompts.RECALL_FACTS
        known, usage = False, None
        try:
            reply = await self._ask(task, prompt, {}, parse=parse_yes_no)
            known, usage = reply.value, reply.usage
        except UnusableReply as unusable:
            usage = unusable.usage
        events.recall({"id": frame["id"], "question": frame["question"], "known": known, "facts": len(task["facts"])})
        return Done(StepOutcome("yes" if known else "no"), usage)

    async def pick_tool(self, task: Task) -> Done:
        """Picks the tool that is best for a question (section 3.3); none of them leaves it to what is known."""
        names = self.toolbox.names
        parse = partial(parse_tool_number, count=len(names))
        try:
            reply = await self._ask(task, prompts.PICK_TOOL, {"tools": self.toolbox.listing()}, parse=parse)
        except UnusableReply as unusable:
            return Done(StepOutcome("unusable", {"error": f"No tool was picked: {unusable.reason}"}), unusable.usage)
        if reply.value == 0:
            return Done(StepOutcome("none"), reply.usage)
        return Done(StepOutcome("picked", {"tool": names[reply.value - 1]}), reply.usage)

    async def tool_input(self, task: Task) -> Done:
        """Writes the tool's input as a JSON object of its parameters, which is checked against them (section 3.4)."""
        frame, tool = task["frame"], task["frame"]["tool"]
        arguments: dict[str, Any] = {}
        usage = None
        if self.toolbox.parameters(tool):
            try:
                reply = await self._ask_input(task, tool)
            except UnusableReply as unusable:
                return Done(
                    StepOutcome("unusable", {"error": f"No input for {tool}: {unusable.reason}"}), unusable.usage
                )
            arguments, usage = reply.value, reply.usage
        events.call({"id": frame["id"], "question": frame["question"], "tool": tool, "arguments": arguments})
        return Done(StepOutcome("written", {"arguments": arguments}), usage)

    async def _ask_input(self, task: Task, tool: str) -> Reply[dict[str, Any]]:
        complaint = task["frame"]["complaint"]
        values: dict[str, Any] = {
            "number": self.toolbox.names.index(tool) + 1,
            "description": self.toolbox.describe(tool),
            "parameters": self.toolbox.described(tool),
            "complaint": complaint,
        }
        return await self._ask(
            task, prompts.TOOL_INPUT, values, parse=lambda reply: self.toolbox.check(tool, parse_input(reply))
        )

    async def use_tool(self, task: Task) -> Done:
        """Uses the tool once (section 3.5); whether a use that is not harmless already happened is asked, not tried."""
        frame, settings = task["frame"], settings_of(task)
        tool = frame["tool"]
        if not self.toolbox.idempotent(tool) and not tickets.redeem(frame["ticket"]):
            return Done(StepOutcome("may have happened"))
        started = time.monotonic()
        seconds = settings.tool_seconds if task["seconds"] is None else min(settings.tool_seconds, task["seconds"])
        used = await self.toolbox.use(tool, frame["arguments"], seconds=seconds, limit=settings.reply_chars)
        usage = took(time.monotonic() - started)
        if used.failed and seconds < settings.tool_seconds and usage["seconds"] >= seconds:
            late = OutOfTime(f"The tool {tool} did not reply within the {seconds:.3g} s that were left.")
            late.usage = usage
            raise late
        error = used.refused or used.failed
        reply = used.reply or ToolReply(tool=tool, text="", passages=[])
        events.reply(
            {"id": frame["id"], "tool": tool, "text": reply["text"], "passages": reply["passages"], "error": error}
        )
        if used.reply is not None:
            return Done(StepOutcome("replied", {"complaint": ""}), usage, reply=used.reply)
        # Asked again once; a second refusal of the same use is the tool's last word.
        if used.refused and not frame["complaint"]:
            return Done(StepOutcome("refused its input", {"complaint": used.refused, "ticket": ""}), usage)
        return Done(StepOutcome("failed", {"error": error}), usage)

    async def answer(self, task: Task) -> Done:
        """Answers from the tool's reply, from memory, or from the model's knowledge; says so when it cannot."""
        frame, facts, reply = task["frame"], task["facts"], task["reply"]
        facts_alone = bool(frame["error"]) or not settings_of(task).knowledge
        values: dict[str, Any] = {}
        if reply is not None and frame["tool"]:
            prompt = prompts.ANSWER_REPLY
            origin: Origin = "tool"
            values["reply"] = quote(reply["text"], limit=settings_of(task).reply_chars)
        elif facts_alone:
            prompt, origin = prompts.ANSWER_FACTS, "memory"
        else:
            prompt, origin = prompts.ANSWER, "memory" if facts else "model"
        if prompt is prompts.ANSWER_FACTS and not facts:
            return Done(StepOutcome("not answered", learned("", "failed", frame["error"] or _NO_FACT)))
        try:
            found: Reply[str] = await self._ask(task, prompt, values, parse=parse_answer)
        except UnusableReply as unusable:
            return Done(StepOutcome("not answered", learned("", "failed", unusable.reason)), unusable.usage)
        error = "" if found.value else frame["error"] or f"The {_SOURCES[origin]} did not tell."
        word = "answered" if found.value else "not answered"
        return Done(StepOutcome(word, learned(found.value, origin, error)), found.usage)

    async def _ask(
        self, task: Task, prompt: Prompt, values: Mapping[str, Any], *, parse: Callable[[str], T]
    ) -> Reply[T]:
        known: dict[str, Any] = {
            "memory": memory_of(task["facts"]),
            "question": quote(task["frame"]["question"], limit=_QUESTION),
            **values,
        }
        settings = settings_of(task)
        return await self.model.ask(
            prompt,
            {name: known[name] for name in prompt.variables},
            parse=parse,
            temperature=settings.temperature,
            seed=settings.seed,
            allowance=Allowance(task["calls"], task["seconds"]),
        )


_NO_FACT = "There is no fact to answer from."
_SOURCES = {"tool": "tool's reply", "memory": "memory", "model": "model"}


def guarded(step: Callable[[Task], Awaitable[Done]], moves: Moves) -> Callable[[Task], Any]:
    """The step as a node. A call that fails for a passing reason is made again in the next round, and once only.

    Then the sub-question has failed, which is no fact to use. The failure of the question itself ends the run, which
    can be resumed. A call that the run's deadline cut is marked, and `advance` ends the run with what there is.
    """

    async def run(task: Task) -> RebelState:
        frame = task["frame"]
        try:
            done = await step(task)
        except ModelError as error:
            if isinstance(error, OutOfTime) or (isinstance(error, OutOfCalls) and frame["id"] == ROOT):
                return _again(task, error, late=True)
            if not error.transient or (frame["tries"] and frame["id"] == ROOT):
                raise
            if not frame["tries"]:
                return _again(task, error, tries=1)
            done = Done(StepOutcome("lost", learned("", "failed", f"No call went through: {error}")), error.usage)
        return ended(task, done, moves)

    run.__name__ = step.__name__
    return run


def ended(task: Task, done: Done, moves: Moves) -> RebelState:
    """What a step puts into the state: its frame in the next stage, what it opened, what it was told, what it cost."""
    after = moved(task["frame"], done.outcome, moves)
    tell_facts([after])
    replies = {} if done.reply is None else {after["id"]: done.reply}
    return RebelState(frames={after["id"]: after, **done.opened}, replies=replies, ledger=_paid(task, done.usage))


def _again(task: Task, error: ModelError, **marks: Any) -> RebelState:
    frame = cast("Frame", {**task["frame"], **marks})
    return RebelState(frames={frame["id"]: frame}, ledger=_paid(task, error.usage))


def _paid(task: Task, usage: Usage | None) -> dict[str, Usage]:
    return {row_of(task["round"], task["frame"]): usage or no_usage()}


def settings_of(task: Task) -> RebelSettings:
    """The settings of the run."""
    return RebelSettings(**task["settings"])


def tell_facts(frames: Iterable[Frame]) -> None:
    """Sends `rebel.fact` for each question that is finished."""
    for frame in frames:
        if frame["stage"] == "done":
            events.fact({"fact": fact_of(frame)})


def memory_of(facts: Sequence[Fact]) -> list[dict[str, str]]:
    """The facts as the prompts show them, quoted as data."""
    return [
        {"question": quote(fact["question"], limit=_QUESTION), "answer": quote(fact["answer"], limit=_ANSWER)}
        for fact in facts
    ]
