"""A run of several trajectories scored by each way to select among them, and by its upper bound: any of them right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langgraph_evidence.evaluation.answers import score_answer
from langgraph_evidence.evaluation.outcome import Candidate, EvidenceId, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from langgraph_evidence.evaluation.question import Question

ANY = "any trajectory"
"""The row of the upper bound: the best answer of all trajectories."""


def candidates_of(output: Mapping[str, Any]) -> list[Candidate]:
    """The trajectories of a graph's output that have an answer, each with the selections that chose it."""
    selections: Mapping[str, Any] = output.get("selections") or {}
    chosen: dict[str, list[str]] = {}
    for name, row in selections.items():
        if not row["unavailable"]:
            chosen.setdefault(row["trajectory"], []).append(name)
    passages = output.get("passages") or {}
    return [
        Candidate(
            answer=found["answer"],
            evidence=[
                EvidenceId(id=name, title=passages[name]["title"])
                for name in dict.fromkeys(name for step in found["evidence"] for name in step)
            ],
            selected_by=chosen.get(found["id"], []),
        )
        for found in output.get("trajectories") or []
        if found["answer"] and not found["failure"]
    ]


def by_selection(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    """The outcomes as each selection would have them, and as the best trajectory would; nothing declined.

    Args:
        questions: The questions.
        outcomes: Their outcomes, in the same order.

    Yields:
        The selection's name, as far as any run has it, with an outcome a question.
    """
    known = [name for outcome in outcomes for found in _candidates(outcome) for name in found["selected_by"]]
    for name in dict.fromkeys(known):
        yield name, [_instead(outcome, _selected(outcome, name)) for outcome in outcomes]
    if any(map(_candidates, outcomes)):
        pairs = zip(questions, outcomes, strict=True)
        yield ANY, [_instead(outcome, _best(question, outcome)) for question, outcome in pairs]


def _candidates(outcome: Outcome) -> list[Candidate]:
    return outcome.get("candidates") or []


def _selected(outcome: Outcome, name: str) -> Candidate | None:
    return next((found for found in _candidates(outcome) if name in found["selected_by"]), None)


def _best(question: Question, outcome: Outcome) -> Candidate | None:
    def right(found: Candidate) -> tuple[float, float]:
        score = score_answer(found["answer"], question.answers, style=question.style)
        return score.em, score.f1

    return max(_candidates(outcome), key=right, default=None)


def _instead(outcome: Outcome, found: Candidate | None) -> Outcome:
    """The outcome with another trajectory's answer and evidence; the citations were the given answer's."""
    if "error" in outcome:
        return outcome
    kept = {key: value for key, value in outcome.items() if key not in {"support", "guess"}}
    answer, evidence = (found["answer"], found["evidence"]) if found else ("", [])
    stopped = "answered" if found else "no_answer"
    return cast("Outcome", {**kept, "answer": answer, "evidence": evidence, "citations": [], "stopped": stopped})
