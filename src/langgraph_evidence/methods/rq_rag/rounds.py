"""What a round works on: the paths that are ready and the budget allows, what each is sent, and what comes last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from langgraph_evidence.methods.rq_rag.state import FREE, WORK, Path, RqRagState, Task
from langgraph_evidence.methods.rq_rag.tree import FOUND, branch, changed, children_of, held, in_order, steps_of, sure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.budget import Allowance
    from langgraph_evidence.methods.rq_rag.settings import RqRagSettings
    from langgraph_evidence.run import Cut, MethodRun

_ROUND_STEPS = 2  # the work's, then advance


class Kept(TypedDict):
    """What a round keeps back for the last answer: calls, and time unless it is the last answer."""

    kept: int
    last: bool


def kept_for(found: Sequence[Path]) -> Kept:
    """A call is kept back where others are asked for; a search alone asks for none."""
    last = any(path["last"] for path in found)
    return Kept(kept=0 if last or all(path["stage"] in FREE for path in found) else 1, last=last)


def within_calls(found: Sequence[Path], calls: int) -> list[Path]:
    """The first of the paths: those that ask no model, and so many that do."""
    asking = [path["id"] for path in found if path["stage"] not in FREE][:calls]
    return [path for path in found if path["stage"] in FREE or path["id"] in asking]


def row_of(number: int, path: Path) -> str:
    """The row of the ledger of a step on a path."""
    return f"{number}.{path['id']}"


def not_yet_made(state: RqRagState) -> list[Path]:
    """The paths of a round whose step is still to be made."""
    paths = [state["paths"][name] for name in state["scheduled"]]
    return [path for path in paths if path["stage"] in WORK and row_of(state["round"], path) not in state["ledger"]]


def task_of(state: RqRagState, path: Path, settings: RqRagSettings, allowance: Allowance) -> Task:
    """What the step on a path is sent."""
    answered = any(other["stage"] == "answered" for other in state["paths"].values())
    return Task(
        path=path,
        round=state["round"],
        question=state["question"],
        steps=steps_of(state["paths"], path, state["passages"]),
        alone=len(state["scheduled"]) == 1 and not answered,
        settings=settings.model_dump(),
        calls=allowance.calls,
        seconds=allowance.seconds,
    )


def cut_before(run: MethodRun[RqRagSettings], state: RqRagState, paths: Mapping[str, Path], found: list[Path]) -> Cut:
    """Why the answer has to be given now, or nothing; its call and its steps are kept back for it."""
    if any(path["late"] for path in paths.values()):
        return "budget"
    return run.cut_of(state, steps=_ROUND_STEPS, **kept_for(found)) if found else ""


def last_answer(run: MethodRun[RqRagSettings], state: RqRagState, paths: Mapping[str, Path]) -> list[Path]:
    """The answer of the path that holds most, where none as good was given and there is a call and time for it."""
    begun = next((path for path in paths.values() if path["last"]), None)
    if not run.affordable(state, wanted=1, kept=0, last=True) or not run.has_steps(state, steps=0):
        return []
    if begun is not None:
        return [] if begun["late"] or begun["stage"] != "answer" else [begun]
    grown = [path for path in in_order(paths) if path["stage"] in FOUND]
    most = max(grown, key=lambda path: len(held(paths, path)))
    told = [len(held(paths, path)) for path in paths.values() if path["stage"] == "answered"]
    if told and max(told) >= len(held(paths, most)):
        return []
    children = children_of(paths, most)
    waiting = next((child for child in children if child["stage"] == "answer"), None)
    return [changed(waiting or branch(most, sure("answer"), len(children) + 1), last=True, late=False)]
