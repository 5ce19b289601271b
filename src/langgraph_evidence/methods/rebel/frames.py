"""Algorithm 1's recursion as an explicit stack: frames by id, what each knows, what each does next. Pure functions.

A frame sees the facts that its parent saw and those of the sub-questions it needs, never what happens to be finished:
so a parallel run shows every step what an ordered run shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from langgraph_evidence.methods.rebel.near_duplicates import same_question
from langgraph_evidence.methods.rebel.state import WORK, Fact, Frame, Origin, Stage, StepOutcome
from langgraph_evidence.methods.rebel.wording import fill, leans, references, spell_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.methods.rebel.protocol import SubQuestion
    from langgraph_evidence.methods.rebel.settings import RebelSettings

ROOT = "0"
Frames = dict[str, Frame]
Moves = Mapping[str, Mapping[str, Stage]]
"""The stage that follows each outcome of each stage: the table in `graph.py`."""


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
        duplicate="",
        tool="",
        arguments={},
        complaint="",
        ticket="",
        tries=0,
        late=False,
        answer="",
        doubted="",
        origin="failed",
        error="",
    )


def root_frame(question: str, settings: RebelSettings) -> Frame:
    """The frame of the question that was asked."""
    return new_frame(ROOT, "", question, depth=0, may_split=True, allowance=settings.max_nodes - 1)


def open_children(
    frame: Frame, subquestions: Sequence[SubQuestion], settings: RebelSettings, *, dropped: Sequence[bool]
) -> Frames:
    """A frame for each sub-question of a split that was not dropped.

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
    return children


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
    sources = [name for each in line_of(frames, frame) for name in sorted(_closure(frames, each["needs"]), key=place)]
    sources += frame["children"]
    found = {
        fact["id"]: fact
        for source in sources
        for fact in subtree_facts(frames, source, grandchildren=settings.grandchildren)
    }
    return [fact for fact in found.values() if fact["origin"] != "failed"]


def line_of(frames: Mapping[str, Frame], frame: Frame) -> list[Frame]:
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


def moved(frame: Frame, outcome: StepOutcome, moves: Moves) -> Frame:
    """The frame after a stage, in the stage that the table says follows."""
    after = {**frame, "tries": 0, **outcome.changes, "stage": moves[frame["stage"]][outcome.word]}
    return cast("Frame", after)


def learned(answer: str, origin: Origin, error: str = "") -> dict[str, Any]:
    """What a frame is finished with; without an answer it has failed."""
    return {"answer": answer, "origin": origin if answer else "failed", "error": error}


def advance(frames: Mapping[str, Frame], settings: RebelSettings, tools: Sequence[str], moves: Moves) -> Frames:
    """Moves every frame on that waits for nothing any more; no model and no tool is asked.

    Returns:
        The frames that changed.
    """
    now: Frames = dict(frames)
    changed: Frames = {}
    moving = True
    while moving:
        moving = False
        for name in [frame["id"] for frame in in_order(now)]:
            while (outcome := _unasked(now, now[name], settings, tools)) is not None:
                now[name] = changed[name] = moved(now[name], outcome, moves)
                moving = True
    return changed


def _unasked(frames: Frames, frame: Frame, settings: RebelSettings, tools: Sequence[str]) -> StepOutcome | None:
    """How a stage ends that asks nobody; nothing while it has to wait."""
    match frame["stage"]:
        case "waiting" | "children" | "duplicate":
            return _waited(frames, frame, settings)
        case "plain":
            return _spelt(frames, frame)
        case "opened":
            return _begun(frames, frame, settings)
        case "check":
            return _checked(frames, frame, settings, tools)
        case "choose":
            return _chosen(tools)
        case "stuck":
            told = frame["children"] and not frame["doubted"]  # whose facts have answered already
            return StepOutcome("has facts", {"tool": ""}) if told else _failed(frame)
    return None


def _waited(frames: Frames, frame: Frame, settings: RebelSettings) -> StepOutcome | None:
    """How waiting for others ends."""
    if frame["stage"] == "duplicate":
        return _copied(frames, frame)
    if frame["stage"] == "waiting":
        return _worded(frames, frame, settings) if _all_done(frames, frame["needs"]) else None
    return StepOutcome("all answered") if _all_done(frames, frame["children"]) else None


def _all_done(frames: Frames, names: Sequence[str]) -> bool:
    return all(frames[name]["stage"] == "done" for name in names)


def _worded(frames: Frames, frame: Frame, settings: RebelSettings) -> StepOutcome:
    """The answers it names are put in; what still leans on others is worded by the model."""
    answers = {place(name)[-1]: frames[name]["answer"] for name in frame["needs"]}
    question = fill(frame["asked"], answers)
    leaning = settings.rewrite and leans(question) and frame["parent"]
    return StepOutcome("leans on others" if leaning else "stands alone", {"question": question})


def _spelt(frames: Frames, frame: Frame) -> StepOutcome:
    """Where the question still names an answer that nobody has, the question of that answer is put in."""
    siblings = {place(name)[-1]: frames[name]["question"] for name in frame["needs"]}
    return StepOutcome("spelt out", {"question": spell_out(frame["question"], siblings)})


def _begun(frames: Frames, frame: Frame, settings: RebelSettings) -> StepOutcome:
    """What becomes of a question: its fact where it was asked before, a split where one is allowed, or a check."""
    if any(same_question(above["question"], frame["question"]) for above in line_of(frames, frame)[:-1]):
        return StepOutcome(
            "asks what it comes from", learned("", "failed", "Worded to stand alone it asks what it comes from.")
        )
    if settings.reuse:
        facts = known_facts(frames, frame, settings)
        same = next((fact for fact in facts if same_question(fact["question"], frame["question"])), None)
        if same is not None:
            return StepOutcome("is a fact", learned(same["answer"], "memory"))
        other = _duplicate(frames, frame, facts, settings)
        if other is not None:
            return StepOutcome("is asked elsewhere", {"duplicate": other["id"]})
    may_split = frame["may_split"] and frame["depth"] < settings.depth and frame["allowance"] > 0
    return StepOutcome("may split" if may_split else "may not split")


def _duplicate(frames: Frames, frame: Frame, facts: list[Fact], settings: RebelSettings) -> Frame | None:
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
            and known_facts(frames, Frame({**other, "children": []}), settings) == facts
        ):
            return other
    return None


def _copied(frames: Frames, frame: Frame) -> StepOutcome | None:
    other = frames[frame["duplicate"]]
    if other["stage"] != "done":
        return None
    return StepOutcome("answered", learned(other["answer"], "memory", other["error"]))


def _checked(frames: Frames, frame: Frame, settings: RebelSettings, tools: Sequence[str]) -> StepOutcome:
    """Whether memory has to be asked: without tools the model answers anyway, without facts nothing can come of it."""
    if not tools:
        return StepOutcome("no tools")
    nothing = not settings.knowledge and not known_facts(frames, frame, settings)
    return StepOutcome("nothing to recall" if nothing else "to recall")


def _chosen(tools: Sequence[str]) -> StepOutcome:
    if not tools:
        return StepOutcome("no tools")
    return StepOutcome("one tool", {"tool": tools[0]}) if len(tools) == 1 else StepOutcome("several tools")


def _failed(frame: Frame) -> StepOutcome:
    return StepOutcome("no facts", learned("", "failed", frame["error"]))


def ready(frames: Mapping[str, Frame], *, parallel: bool) -> list[Frame]:
    """The frames to work on now: all that can be, or the first of them as Algorithm 1 goes."""
    found = [frame for frame in in_order(frames) if frame["stage"] in WORK]
    return found if parallel else found[:1]
