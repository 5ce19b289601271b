"""The tree of paths (appendix B.2, figure 7): generate, retrieve, generate, retrieve, ..., answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langgraph_evidence.methods.rq_rag.protocol import ACTIONS, REFINEMENTS
from langgraph_evidence.methods.rq_rag.selection import Trajectory
from langgraph_evidence.methods.rq_rag.state import WORK, Path, Proposal, Taken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from langgraph_evidence.methods.rq_rag.protocol import Action
    from langgraph_evidence.methods.rq_rag.settings import RqRagSettings
    from langgraph_evidence.methods.rq_rag.state import Token
    from langgraph_evidence.types import Passage

Paths = dict[str, Path]

FOUND = frozenset({"retrieved", "choose", "chosen", "inner"})
"""The stages of a path whose search is done, and of the question itself."""

ROOT = "0"
"""The id of the question itself."""


def root_path() -> Path:
    """The question itself: nothing has been searched for."""
    return Path(
        id=ROOT, parent="", depth=0, stage="retrieved", action="", proposals=[], query="", evidence=[], answer="",
        generated=[], final=None, failure="", why="", tries=0, late=False, last=False,
    )  # fmt: skip


def changed(path: Path, **changes: Any) -> Path:
    """The path with some of its values changed."""
    return cast("Path", {**path, **changes})


def in_order(paths: Mapping[str, Path]) -> list[Path]:
    """The paths in the order of the tree: depth first, branches as they were chosen."""
    return sorted(paths.values(), key=lambda path: [int(number) for number in path["id"].split("-")])


def line_of(paths: Mapping[str, Path], path: Path) -> list[Path]:
    """The paths from the root to this one."""
    line = [path]
    while line[0]["parent"]:
        line.insert(0, paths[line[0]["parent"]])
    return line


def tried(proposals: Sequence[Proposal], width: int) -> list[Proposal]:
    """The likeliest actions, as many as the width allows, and none after the answer: what is likelier is done first."""
    kept: list[Proposal] = []
    for proposal in proposals[:width]:
        kept.append(proposal)
        if proposal["action"] == "answer":
            break
    return kept


def grow(paths: Mapping[str, Path], settings: RqRagSettings) -> Paths:
    """Moves on every path that waits for nobody: it is asked for its actions, or branches into them.

    A path whose actions have all failed answers from what it holds.
    """
    found: Paths = {}
    for path in paths.values():
        if path["stage"] == "retrieved" and settings.exploration == "chosen" and path["depth"] < settings.depth:
            found[path["id"]] = changed(path, stage="choose")
        elif path["stage"] in {"retrieved", "chosen"}:
            found |= _branched(path, _actions(path, settings))
        elif path["stage"] == "inner" and _to_answer(paths, path):
            found |= _branched(path, [sure("answer")], after=len(children_of(paths, path)))
    return found


def _actions(path: Path, settings: RqRagSettings) -> list[Proposal]:
    if path["depth"] >= settings.depth:
        return [sure("answer")]
    if settings.exploration == "forced":
        return [sure(action) for action in ACTIONS]
    return tried(path["proposals"], settings.width) or [sure("answer")]


def sure(action: Action) -> Proposal:
    """An action that nobody was asked for, so that its token was not generated."""
    return Proposal(action=action, logprob=None)


def _branched(path: Path, proposals: Sequence[Proposal], *, after: int = 0) -> Paths:
    branches = [branch(path, proposal, number) for number, proposal in enumerate(proposals, start=after + 1)]
    return {path["id"]: changed(path, stage="inner"), **{made["id"]: made for made in branches}}


def branch(path: Path, proposal: Proposal, number: int) -> Path:
    """The path one action on; the token of an action that the model chose is one that it generated."""
    action, logprob = proposal["action"], proposal["logprob"]
    generated: list[Token] = [] if logprob is None else [{"logprob": logprob, "likeliest": logprob}]
    answers = action == "answer"
    return changed(
        root_path(),
        id=f"{path['id']}-{number}",
        parent=path["id"],
        depth=path["depth"] + (not answers),
        stage="answer" if answers else "refine",
        action=action,
        generated=generated,
    )


def children_of(paths: Mapping[str, Path], path: Path) -> list[Path]:
    """The branches of a path."""
    return [child for child in paths.values() if child["parent"] == path["id"]]


def _to_answer(paths: Mapping[str, Path], path: Path) -> bool:
    """Whether all branches have failed and none of them was the answer; where no call went through, it is once more."""
    children = children_of(paths, path)
    answers = sum(child["action"] == "answer" for child in children)
    lost = all(child["failure"] == "lost" for child in children)
    return all(child["stage"] == "failed" for child in children) and answers <= lost


def ready(paths: Mapping[str, Path]) -> list[Path]:
    """The paths that are at work, in the order of the tree."""
    return [path for path in in_order(paths) if path["stage"] in WORK]


def steps_of(paths: Mapping[str, Path], path: Path, passages: Mapping[str, Passage]) -> list[Taken]:
    """The finished steps Z_1 ... Z_i on the way to a path, its own among them."""
    return [
        Taken(action=step["action"], query=step["query"], passages=[passages[name] for name in step["evidence"]])
        for step in line_of(paths, path)
        if step["action"] in REFINEMENTS and step["stage"] in FOUND
    ]  # fmt: skip


def searched(paths: Mapping[str, Path]) -> bool:
    """Whether anything was searched for."""
    return any(path["action"] in REFINEMENTS and path["stage"] in FOUND for path in paths.values())


def held(paths: Mapping[str, Path], path: Path) -> list[str]:
    """The ids of the passages on the way to a path, each once, in the order of its steps."""
    return list(dict.fromkeys(name for step in line_of(paths, path) for name in step["evidence"]))


def trajectories_of(paths: Mapping[str, Path]) -> list[Trajectory]:
    """Every path from the question to its end, in the order of the tree; one that the run's end cut has failed."""
    return [_trajectory(paths, path) for path in in_order(paths) if path["stage"] != "inner"]


def _trajectory(paths: Mapping[str, Path], path: Path) -> Trajectory:
    line = line_of(paths, path)
    steps = [step for step in line if step["action"] in REFINEMENTS]
    over = path["stage"] in {"answered", "failed"}
    return Trajectory(
        id=path["id"],
        actions=[str(step["action"]) for step in line[1:]],
        queries=[step["query"] for step in steps],
        evidence=[step["evidence"] for step in steps],
        answer=path["answer"],
        generated=_logprobs([step["generated"] for step in line], "logprob"),
        final=_logprobs([path["final"]], "logprob"),
        likeliest=_logprobs([path["final"]], "likeliest"),
        whole=None,
        support=None,
        failure=path["failure"] if over else "cut",
        why=path["why"] if over else "The run ended before this path did.",
    )


def _logprobs(parts: Iterable[Sequence[Token] | None], key: str) -> list[float] | None:
    """The log-probabilities of all parts; none where one of them is not known."""
    found: list[float] = []
    for part in parts:
        if part is None:
            return None
        found += [float(cast("Mapping[str, float]", token)[key]) for token in part]
    return found or None
