"""The end of a run: every selection in one pass over the trajectories, and what becomes of an answer in doubt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from langgraph_evidence.concurrency import in_thread
from langgraph_evidence.methods.rq_rag import events
from langgraph_evidence.methods.rq_rag.protocol import TABLES, RefinedQuery, conversation, trajectory
from langgraph_evidence.methods.rq_rag.selection import (
    Selection,
    Trajectory,
    chosen_of,
    same_answer,
    select_all,
)
from langgraph_evidence.methods.rq_rag.state import RqRagState
from langgraph_evidence.methods.rq_rag.tree import in_order, searched, trajectories_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.citations import Checked
    from langgraph_evidence.methods.rq_rag.protocol import Refinement
    from langgraph_evidence.methods.rq_rag.settings import RqRagSettings, SelectionName
    from langgraph_evidence.models.causal import TokenLikelihood
    from langgraph_evidence.run import MethodRun
    from langgraph_evidence.types import Passage, Stopped


async def select(run: MethodRun[RqRagSettings], state: RqRagState, likelihood: TokenLikelihood | None) -> RqRagState:
    """Selects in every way, takes the answer of the one that is set, and looks at it once more where it is in doubt.

    Args:
        run: Checks answers against their evidence.
        state: Of the run, every path at its end.
        likelihood: Scores whole texts, for the authors' perplexity.
    """
    settings = run.settings_of(state)
    checks, found = _Checks(run, state), trajectories_of(state["paths"])
    if likelihood is not None:
        found = [await in_thread(_scored, state, t, settings, likelihood) if t["answer"] else t for t in found]
    found = await checks.supported(found, most=settings.checked)
    selections = select_all(found)
    wanted = chosen_of(selections, settings.select)
    events.selection({"selections": selections, "selected_by": wanted})
    by_id = {t["id"]: t for t in found}
    name = await _trusted(checks, selections, wanted, by_id, second_best=settings.second_best)
    chosen = by_id.get(selections[name]["trajectory"])
    nothing: Stopped = "no_evidence" if searched(state["paths"]) and not state["passages"] else "no_answer"
    return RqRagState(
        answer=chosen["answer"] if chosen else "",
        evidence=evidence_of(state, chosen),
        trajectories=found,
        selections=selections,
        selected_by=name if chosen else "",
        stopped=state["cut"] or ("answered" if chosen else nothing),
    )


async def _trusted(
    checks: _Checks,
    selections: dict[SelectionName, Selection],
    wanted: SelectionName,
    by_id: dict[str, Trajectory],
    *,
    second_best: bool,
) -> SelectionName:
    """The selection whose answer is given: the wanted one, or the one by support where that answer alone is trusted."""
    chosen, other = (by_id.get(selections[name]["trajectory"]) for name in (wanted, "support"))
    why = await checks.doubt(chosen) if chosen else ""
    if chosen is None or not why:
        return wanted
    differs = other is not None and other["id"] != chosen["id"]
    better = other if differs and second_best and other and not await checks.doubt(other) else None
    events.doubt({"answer": chosen["answer"], "why": why, "instead": better["answer"] if better else ""})
    return "support" if better else wanted


def evidence_of(state: RqRagState, chosen: Trajectory | None) -> list[Passage]:
    """What a trajectory found, in the order of its steps; for one that found nothing, or for none, what all found.

    So an answer that was given without a search is measured by what the other paths brought, where there were any.
    """
    own = [] if chosen is None else [name for step in chosen["evidence"] for name in step]
    names = own or [name for path in in_order(state["paths"]) for name in path["evidence"]]
    return [state["passages"][name] for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class _Checks:
    """Answers checked against the evidence of their trajectories, each once."""

    run: MethodRun[RqRagSettings]
    state: RqRagState
    known: dict[tuple[str, ...], Checked] = field(default_factory=dict)

    def _with_evidence(self, found: Trajectory) -> RqRagState:
        return RqRagState({**self.state, "evidence": evidence_of(self.state, found)})

    def _key(self, found: Trajectory) -> tuple[str, ...]:
        return (found["answer"], *sorted(passage["id"] for passage in evidence_of(self.state, found)))

    async def of(self, found: Trajectory) -> Checked:
        """The check of a trajectory's answer."""
        key = self._key(found)
        if key not in self.known:
            self.known[key] = await self.run.check(self._with_evidence(found), found["answer"])
        return self.known[key]

    async def doubt(self, found: Trajectory) -> str:
        """Why the answer of a trajectory is not to be trusted, or nothing: what was never searched for is known."""
        if not searched(self.state["paths"]):
            return ""
        return self.run.doubt(self._with_evidence(found), found["answer"], await self.of(found))

    async def supported(self, found: Sequence[Trajectory], *, most: int) -> list[Trajectory]:
        """The trajectories with the support of their answers, the commonest answers first where there are too many."""
        votes = Counter(same_answer(t["answer"]) for t in found if t["answer"])
        ranked = sorted((t for t in found if t["answer"]), key=lambda t: -votes[same_answer(t["answer"])])
        support: dict[str, float] = {}
        for each in ranked if searched(self.state["paths"]) else ():
            if self._key(each) in self.known or len(self.known) < most:
                checked = await self.of(each)
                support |= {} if checked.failed else {each["id"]: checked.support}
        return [Trajectory({**t, "support": support.get(t["id"])}) for t in found]


def _scored(state: RqRagState, found: Trajectory, settings: RqRagSettings, likelihood: TokenLikelihood) -> Trajectory:
    """A trajectory with the log-probabilities of its whole string, as the authors' code scores it."""
    steps = [
        RefinedQuery(cast("Refinement", action), query, [state["passages"][name] for name in names])
        for action, query, names in zip(found["actions"], found["queries"], found["evidence"], strict=False)
    ]
    said = "".join(piece.text for piece in trajectory(steps, found["answer"], TABLES[settings.tokens]))
    text = "\n".join([*(turn for _, turn in conversation(state["question"])), said])
    return Trajectory({**found, "whole": [logprob for _, logprob in likelihood.log_probabilities(text)]})
