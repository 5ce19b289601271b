"""Algorithm 1's recursion as an explicit stack: frames by id, what each knows, what each does next. Pure functions.

A frame sees the facts that its parent saw and those of the sub-questions it needs, never what happens to be finished:
so a parallel run shows every step what an ordered run shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.methods.rebel.near_duplicates import same_question
from langgraph_evidence.methods.rebel.state import WORK, Fact, Frame, Origin
from langgraph_evidence.methods.rebel.wording import fill, leans, references, spell_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.methods.rebel.protocol import SubQuestion
    from langgraph_evidence.methods.rebel.settings import RebelSettings

ROOT = "0"
Frames = dict[str, Frame]


def new_frame(name: str, parent: str, question: str, *, depth: int, may_split: bool, allowance: int) -> Frame:
    """A frame whose question nobody has begun with."""
    return Frame(
        id=name,
        parent=parent,
        question=question,
        asked=question,
        depth=depth,
        stage="waiting",
        may_split=may_split,
        allowance=allowance,
        needs=[],
        children=[],
        twin="",
        tool="",
        arguments={},
        complaint="",
        ticket="",
        tries=0,
        answer="",
        origin="failed",
        error="",
    )


def root_frame(question: str, settings: RebelSettings) -> Frame:
    """The frame of the question that was asked."""
    return new_frame(ROOT, "", question, depth=0, may_split=True, allowance=settings.max_nodes - 1)


def open_children(
    frame: Frame, subquestions: Sequence[SubQuestion], settings: RebelSettings, *, dropped: Sequence[bool]
) -> Frames:
    """The frames of a split: the parent, and a child for each sub-question that was not dropped.

    A child's id ends in its number in the split. A dropped one takes the right to split from its siblings (Algorithm
    1). What the allowance does not reach is left out; the rest of it is shared equally.
    """
    kept = [n for n, gone in enumerate(dropped, start=1) if not gone][: frame["allowance"]]
    may_split = not any(dropped)
    share = (frame["allowance"] - len(kept)) // max(len(kept), 1)
    children: Frames = {}
    for number in kept:
        child = new_frame(
            f"{frame['id']}-{number}",
            frame["id"],
            subquestions[number - 1].text,
            depth=frame["depth"] + 1,
            may_split=may_split,
            allowance=share,
        )
        needed = _needed(number, subquestions, settings)
        child["needs"] = [f"{frame['id']}-{other}" for other in kept if other in needed]
        children[child["id"]] = child
    return {frame["id"]: Frame({**frame, "stage": "children", "tries": 0, "children": list(children)}), **children}


def _needed(number: int, subquestions: Sequence[SubQuestion], settings: RebelSettings) -> set[int]:
    """The numbers of the earlier sub-questions that one must wait for."""
    before = set(range(1, number))
    own = subquestions[number - 1]
    if settings.memory == "all":
        return before
    needed = {*own.needs, *references(own.text)}
    if leans(own.text) and not needed:
        return before
    same = {other for other in before if same_question(subquestions[other - 1].text, own.text)}
    return (needed | same) & before


def place(name: str) -> tuple[int, ...]:
    """Where a frame stands in the order in which Algorithm 1 begins with questions."""
    return tuple(int(part) for part in name.split("-"))


def in_order(frames: Mapping[str, Frame]) -> list[Frame]:
    """All frames, a question before its sub-questions, these in the order of the split."""
    return [frames[name] for name in sorted(frames, key=place)]


def fact_of(frame: Frame) -> Fact:
    """What a finished frame hands on."""
    return Fact(
        id=frame["id"],
        question=frame["question"],
        answer=frame["answer"],
        origin=frame["origin"],
        error=frame["error"],
    )


def subtree_facts(frames: Mapping[str, Frame], name: str, *, grandchildren: bool) -> list[Fact]:
    """The facts of a finished question, those of its sub-questions first."""
    frame = frames[name]
    below = [f for child in frame["children"] for f in subtree_facts(frames, child, grandchildren=grandchildren)]
    own = [fact_of(frame)] if frame["stage"] == "done" else []
    return [*(below if grandchildren else []), *own]


def known_facts(frames: Mapping[str, Frame], frame: Frame, settings: RebelSettings) -> list[Fact]:
    """What a frame may use: the facts its parent had, of what it needs, of its own sub-questions; no failed one."""
    sources = [name for each in _line(frames, frame) for name in sorted(_closure(frames, each["needs"]), key=place)]
    sources += frame["children"]
    found = {
        fact["id"]: fact
        for source in sources
        for fact in subtree_facts(frames, source, grandchildren=settings.grandchildren)
    }
    return [fact for fact in found.values() if fact["origin"] != "failed"]


def _line(frames: Mapping[str, Frame], frame: Frame) -> list[Frame]:
    """The frames from the root down to this one."""
    line = [frame]
    while line[0]["parent"]:
        line.insert(0, frames[line[0]["parent"]])
    return line


def _closure(frames: Mapping[str, Frame], needs: Sequence[str]) -> set[str]:
    reached: set[str] = set()
    todo = list(needs)
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += frames[name]["needs"]
    return reached


def finished(frame: Frame, answer: str, origin: Origin, error: str = "") -> Frame:
    """The frame with its answer; without one it has failed."""
    return Frame({**frame, "stage": "done", "answer": answer, "origin": origin if answer else "failed", "error": error})


def without_tool(frame: Frame, error: str) -> Frame:
    """What a frame does whose tool failed: it answers from the facts of its sub-questions, or fails."""
    if frame["children"]:
        return Frame({**frame, "stage": "answer", "tool": "", "tries": 0, "error": error})
    return finished(frame, "", "failed", error)


def to_tool(frame: Frame, tools: Sequence[str]) -> Frame:
    """The step after a memory check that said no; where there is one tool there is nothing to pick."""
    if not tools:
        return Frame({**frame, "stage": "answer", "tries": 0})
    if len(tools) == 1:
        return Frame({**frame, "stage": "tool_input", "tool": tools[0], "tries": 0})
    return Frame({**frame, "stage": "pick_tool", "tries": 0})


def advance(frames: Mapping[str, Frame], settings: RebelSettings, tools: Sequence[str]) -> Frames:
    """Moves every frame on that waits for nothing any more; no model and no tool is asked.

    Returns:
        The frames that changed.
    """
    now: Frames = dict(frames)
    changed: Frames = {}
    moved = True
    while moved:
        moved = False
        for frame in in_order(now):
            after = _next(now, frame, settings, tools)
            if after != frame:
                now[frame["id"]] = changed[frame["id"]] = after
                moved = True
    return changed


def _next(frames: Frames, frame: Frame, settings: RebelSettings, tools: Sequence[str]) -> Frame:
    stage = frame["stage"]
    if stage == "waiting" and all(frames[name]["stage"] == "done" for name in frame["needs"]):
        return _worded(frames, frame, settings)
    if stage == "opened":
        return _begun(frames, frame, settings, tools)
    if stage == "twin" and frames[frame["twin"]]["stage"] == "done":
        return _copied(frame, frames[frame["twin"]])
    if stage == "children" and all(frames[name]["stage"] == "done" for name in frame["children"]):
        return _recall(frame, settings, tools, facts=known_facts(frames, frame, settings))
    return frame


def _worded(frames: Frames, frame: Frame, settings: RebelSettings) -> Frame:
    """The question with the answers it names put in; one that still leans on others is worded anew by the model."""
    siblings = {place(name)[-1]: frames[name] for name in frame["needs"]}
    question = fill(frame["asked"], {number: sibling["answer"] for number, sibling in siblings.items()})
    if settings.rewrite and leans(question) and frame["parent"]:
        return Frame({**frame, "question": question, "stage": "rewrite"})
    return plainly_worded(frames, Frame({**frame, "question": question}))


def plainly_worded(frames: Mapping[str, Frame], frame: Frame) -> Frame:
    """The question without the model's help: what nobody has answered is spelt out."""
    siblings = {place(name)[-1]: frames[name]["question"] for name in frame["needs"] if name in frames}
    return Frame({**frame, "question": spell_out(frame["question"], siblings), "stage": "opened", "tries": 0})


def _begun(frames: Frames, frame: Frame, settings: RebelSettings, tools: Sequence[str]) -> Frame:
    """The first step on a question: its fact where it was asked before, a split where one is allowed, or recall."""
    if any(same_question(above["question"], frame["question"]) for above in _line(frames, frame)[:-1]):
        return finished(frame, "", "failed", "Worded to stand alone it asks what it comes from.")
    facts = known_facts(frames, frame, settings)
    if settings.reuse:
        same = next((fact for fact in facts if same_question(fact["question"], frame["question"])), None)
        if same is not None:
            return finished(frame, same["answer"], "memory")
        twin = _twin(frames, frame, facts, settings)
        if twin is not None:
            return Frame({**frame, "stage": "twin", "twin": twin["id"]})
    if frame["may_split"] and frame["depth"] < settings.depth and frame["allowance"] > 0:
        return Frame({**frame, "stage": "split"})
    return _recall(frame, settings, tools, facts=facts)


def _twin(frames: Frames, frame: Frame, facts: list[Fact], settings: RebelSettings) -> Frame | None:
    """A frame elsewhere in the tree that does the same work: same question, same facts, same room below it.

    Only one that is finished, or is worked on and has no sub-questions, is waited for: so no two wait for each other.
    """
    for other in in_order(frames):
        at_work = other["stage"] in WORK and other["stage"] != "rewrite" and not other["children"]
        if (
            other["id"] != frame["id"]
            and (other["stage"] == "done" or at_work)
            and all(other[key] == frame[key] for key in ("depth", "may_split", "allowance"))
            and same_question(other["question"], frame["question"])
            and _inherited(frames, other, settings) == facts
        ):
            return other
    return None


def _inherited(frames: Frames, frame: Frame, settings: RebelSettings) -> list[Fact]:
    return known_facts(frames, Frame({**frame, "children": []}), settings)


def _copied(frame: Frame, twin: Frame) -> Frame:
    return finished(frame, twin["answer"], "memory", twin["error"])


def _recall(frame: Frame, settings: RebelSettings, tools: Sequence[str], *, facts: Sequence[Fact]) -> Frame:
    """The memory check, or what follows it where nothing can come of it."""
    if not tools:
        return Frame({**frame, "stage": "answer", "tries": 0})
    if not settings.knowledge and not facts:
        return to_tool(frame, tools)
    return Frame({**frame, "stage": "recall", "tries": 0})


def ready(frames: Mapping[str, Frame], *, parallel: bool) -> list[Frame]:
    """The frames to work on now: all that can be, or the first of them as Algorithm 1 goes."""
    found = [frame for frame in in_order(frames) if frame["stage"] in WORK]
    return found if parallel else found[:1]
