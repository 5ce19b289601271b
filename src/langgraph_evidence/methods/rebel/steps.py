"""The steps of Algorithm 1 on one frame (sections 3.1 to 3.5): each takes a task and gives the frame's next state."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langgraph_evidence.budget import Allowance
from langgraph_evidence.errors import ModelError, UnusableReply
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.methods.rebel import events, prompts, tickets
from langgraph_evidence.methods.rebel.frames import (
    ROOT,
    fact_of,
    finished,
    open_children,
    to_tool,
    without_tool,
)
from langgraph_evidence.methods.rebel.near_duplicates import near_duplicates
from langgraph_evidence.methods.rebel.protocol import (
    parse_answer,
    parse_input,
    parse_split,
    parse_tool_number,
    parse_wording,
    parse_yes_no,
)
from langgraph_evidence.methods.rebel.state import Fact, Frame, Origin, RebelUpdate, Task, ToolReply, settings_of
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from langgraph_evidence.llm.chat import LanguageModel
    from langgraph_evidence.llm.prompt import Prompt
    from langgraph_evidence.llm.replies import Reply
    from langgraph_evidence.methods.rebel.near_duplicates import Features
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

    async def split(self, task: Task) -> RebelUpdate:
        """Splits a question into sub-questions and drops those that ask the same again (section 3.1)."""
        frame, settings = task["frame"], settings_of(task)
        commas = settings.split_format == "commas"
        try:
            reply = await self._ask(
                task,
                prompts.SPLIT_COMMAS if commas else prompts.SPLIT,
                {"tools": self.toolbox.listing()},
                parse=partial(parse_split, form=settings.split_format),
            )
        except UnusableReply as unusable:
            return _moved(task, open_children(frame, [], settings, dropped=[]), unusable.usage)
        found = reply.value
        texts = [item.text for item in found]
        asked = [*task["ancestors"], frame["question"]]
        check = partial(near_duplicates, near=settings.near, features=self.features)
        dropped = await asyncio.to_thread(check, texts, asked)
        frames = open_children(frame, found, settings, dropped=dropped)
        events.split(
            {
                "id": frame["id"],
                "question": frame["question"],
                "subquestions": {name: frames[name]["asked"] for name in frames[frame["id"]]["children"]},
                "dropped": [text for text, gone in zip(texts, dropped, strict=True) if gone],
            }
        )
        return _moved(task, frames, reply.usage)

    async def rewrite(self, task: Task) -> RebelUpdate:
        """Words a sub-question so that it stands alone; when that fails it stays as it is."""
        frame = task["frame"]
        values = {"origin": quote(task["ancestors"][-1], limit=_QUESTION)}
        try:
            reply = await self._ask(task, prompts.WORD, values, parse=parse_wording)
        except UnusableReply as unusable:
            return _moved(task, _only(frame, stage="opened"), unusable.usage)
        return _moved(task, _only(frame, stage="opened", question=reply.value), reply.usage)

    async def recall(self, task: Task) -> RebelUpdate:
        """Checks whether memory (or the model) holds the answer; no clear yes is a no (section 3.2)."""
        frame = task["frame"]
        prompt = prompts.RECALL if settings_of(task).knowledge else prompts.RECALL_FACTS
        try:
            reply = await self._ask(task, prompt, {}, parse=parse_yes_no)
            known, usage = reply.value, reply.usage
        except UnusableReply as unusable:
            known, usage = False, unusable.usage or no_usage()
        events.recall({"id": frame["id"], "question": frame["question"], "known": known, "facts": len(task["facts"])})
        after = _only(frame, stage="answer")[frame["id"]] if known else to_tool(frame, self.toolbox.names)
        return _moved(task, {frame["id"]: after}, usage)

    async def pick_tool(self, task: Task) -> RebelUpdate:
        """Picks the tool that is best for a question (section 3.3); none of them leaves it to what is known."""
        frame, names = task["frame"], self.toolbox.names
        parse = partial(parse_tool_number, count=len(names))
        try:
            reply = await self._ask(task, prompts.PICK_TOOL, {"tools": self.toolbox.listing()}, parse=parse)
        except UnusableReply as unusable:
            return _moved(task, _gave_up(frame, f"No tool was picked: {unusable.reason}"), unusable.usage)
        if reply.value == 0:
            return _moved(task, _only(frame, stage="answer"), reply.usage)
        return _moved(task, _only(frame, stage="tool_input", tool=names[reply.value - 1]), reply.usage)

    async def tool_input(self, task: Task) -> RebelUpdate:
        """Writes the tool's input as a JSON object of its parameters, which is checked against them (section 3.4)."""
        frame, tool = task["frame"], task["frame"]["tool"]
        if not self.toolbox.parameters(tool):
            return self._about_to_use(task, {}, None)
        values: dict[str, Any] = {
            "number": self.toolbox.names.index(tool) + 1,
            "description": self.toolbox.describe(tool),
            "parameters": self.toolbox.described(tool),
            "complaint": frame["complaint"],
        }

        def parse(reply: str) -> dict[str, Any]:
            return self.toolbox.check(tool, parse_input(reply))

        try:
            reply = await self._ask(task, prompts.TOOL_INPUT, values, parse=parse)
        except UnusableReply as unusable:
            return _moved(task, _gave_up(frame, f"No input for {tool}: {unusable.reason}"), unusable.usage)
        return self._about_to_use(task, reply.value, reply.usage)

    def _about_to_use(self, task: Task, arguments: dict[str, Any], usage: Usage | None) -> RebelUpdate:
        frame = task["frame"]
        tool = frame["tool"]
        events.call({"id": frame["id"], "question": frame["question"], "tool": tool, "arguments": arguments})
        return _moved(task, _only(frame, stage="use_tool", arguments=arguments), usage)

    async def use_tool(self, task: Task) -> RebelUpdate:
        """Uses the tool once (section 3.5); whether a use that is not harmless already happened is asked, not tried."""
        frame, settings = task["frame"], settings_of(task)
        tool = frame["tool"]
        if not self.toolbox.idempotent(tool) and not tickets.redeem(frame["ticket"]):
            return _moved(task, _only(frame, stage="confirm"), None)
        started = time.monotonic()
        used = await self.toolbox.use(
            tool, frame["arguments"], seconds=settings.tool_seconds, limit=settings.reply_chars
        )
        usage = no_usage()
        usage["seconds"] = time.monotonic() - started
        error = used.refused or used.failed
        reply = used.reply or ToolReply(tool=tool, text="", passages=[])
        events.reply(
            {"id": frame["id"], "tool": tool, "text": reply["text"], "passages": reply["passages"], "error": error}
        )
        if used.reply is not None:
            return RebelUpdate(
                frames=_only(frame, stage="answer", complaint=""),
                replies={frame["id"]: used.reply},
                ledger={_row(task): usage},
            )
        # Asked again once; a second refusal of the same use is the tool's last word.
        if used.refused and not frame["complaint"]:
            return _moved(task, _only(frame, stage="tool_input", complaint=used.refused, ticket=""), usage)
        return _moved(task, _gave_up(frame, error), usage)

    async def answer(self, task: Task) -> RebelUpdate:
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
            return _moved(task, {frame["id"]: finished(frame, "", "failed", frame["error"] or _NO_FACT)}, None)
        try:
            found: Reply[str] = await self._ask(task, prompt, values, parse=parse_answer)
        except UnusableReply as unusable:
            return _moved(task, {frame["id"]: finished(frame, "", "failed", unusable.reason)}, unusable.usage)
        error = "" if found.value else frame["error"] or f"The {_SOURCES[origin]} did not tell."
        return _moved(task, {frame["id"]: finished(frame, found.value, origin, error)}, found.usage)

    async def _ask(
        self, task: Task, prompt: Prompt, values: Mapping[str, Any], *, parse: Callable[[str], T]
    ) -> Reply[T]:
        known: dict[str, Any] = {
            "memory": memory_of(task["facts"]),
            "question": quote(task["frame"]["question"], limit=_QUESTION),
            **values,
        }
        return await self.model.ask(
            prompt,
            {name: known[name] for name in prompt.variables},
            parse=parse,
            temperature=settings_of(task).temperature,
            allowance=Allowance(None if task["repair"] else 1, task["seconds"]),
        )


_NO_FACT = "There is no fact to answer from."
_SOURCES = {"tool": "tool's reply", "memory": "memory", "model": "model"}


def guarded(step: Callable[[Task], Awaitable[RebelUpdate]]) -> Callable[[Task], Any]:
    """The step, where a call that fails for a passing reason is made again in the next round, and once only.

    Then the sub-question has failed, which is no fact to use. The failure of the question itself ends the run, which
    can be resumed.
    """

    async def run(task: Task) -> RebelUpdate:
        frame = task["frame"]
        try:
            update = await step(task)
        except ModelError as error:
            if not error.transient or (frame["tries"] and frame["id"] == ROOT):
                raise
            again = _only(frame, tries=frame["tries"] + 1, stage=frame["stage"])
            failed = {frame["id"]: finished(frame, "", "failed", f"No call went through: {error}")}
            update = _moved(task, failed if frame["tries"] else again, error.usage)
        frames = update["frames"]
        assert isinstance(frames, dict)  # noqa: S101 - a step never overwrites the table
        tell_facts(frames)
        return update

    run.__name__ = step.__name__
    return run


def tell_facts(frames: Mapping[str, Frame]) -> None:
    """Sends `rebel.fact` for each question that is finished."""
    for frame in frames.values():
        if frame["stage"] == "done":
            events.fact({"fact": fact_of(frame)})


def memory_of(facts: Sequence[Fact]) -> list[dict[str, str]]:
    """The facts as the prompts show them, quoted as data."""
    return [
        {"question": quote(fact["question"], limit=_QUESTION), "answer": quote(fact["answer"], limit=_ANSWER)}
        for fact in facts
    ]


def _only(frame: Frame, *, stage: str, **values: Any) -> dict[str, Frame]:
    """The frame alone, in its next stage."""
    return {frame["id"]: cast("Frame", {**frame, "tries": 0, "stage": stage, **values})}


def _gave_up(frame: Frame, error: str) -> dict[str, Frame]:
    return {frame["id"]: without_tool(frame, error)}


def _row(task: Task) -> str:
    return f"{task['turn']}.{task['frame']['id']}"


def _moved(task: Task, frames: dict[str, Frame], usage: Usage | None) -> RebelUpdate:
    return RebelUpdate(frames=frames, ledger={_row(task): usage or no_usage()})
