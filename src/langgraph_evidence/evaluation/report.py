"""The result of an evaluation: a row a method, with intervals, failures counted apart, differences to baselines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph_evidence.evaluation.intervals import Interval, bootstrap, paired_difference
from langgraph_evidence.evaluation.outcome import declined
from langgraph_evidence.evaluation.scores import score_outcome
from langgraph_evidence.evaluation.tables import markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rich.table import Table

    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.question import Question

_PERCENT = {
    "em": "EM",
    "f1": "F1",
    "cover_em": "cover-EM",
    "judged": "Acc\N{DAGGER}",
    "passage_recall": "recall",
    "passage_all_found": "all gold",
    "passage_precision": "precision",
    "fact_f1": "fact F1",
    "joint_f1": "joint F1",
    "em_given": "EM given",
    "declined": "declined",
    "support": "support",
}
_PLAIN = {"passages": "passages", "calls": "calls", "tokens": "tokens", "seconds": "seconds"}
_ANSWER_METRICS = frozenset(
    "em f1 precision recall cover_em cover_em_words judged em_given f1_given declined support".split()
)


@dataclass(frozen=True)
class ReportRow:
    """One method or baseline on all questions.

    Args:
        name: What the table calls it.
        metrics: Means over all questions, a failed one scored 0, with intervals.
        answered_metrics: Means over the questions whose run did not fail.
        questions: How many there were.
        unanswered: How many runs ended without an answer, those that declined to give it aside.
        declined: How many gave no answer because their evidence does not support the one that they found.
        failures: How many runs failed, by the error's type.
        example: The first failure's question and message; empty without one.
        unjudged: How many answers a judge gave no readable verdict on.
        scores: Every question's scores, in the order of the questions.
    """

    name: str
    metrics: Mapping[str, Interval]
    answered_metrics: Mapping[str, Interval]
    questions: int
    unanswered: int
    declined: int
    failures: Mapping[str, int]
    example: str
    unjudged: int
    scores: Sequence[Mapping[str, float]] = field(repr=False)

    @property
    def failed(self) -> int:
        """How many runs failed."""
        return sum(self.failures.values())


def report_row(
    name: str,
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    *,
    answers: bool = True,
    facts: bool = True,
    judged: Mapping[str, bool | None] | None = None,
) -> ReportRow:
    """Scores one method's outcomes.

    Args:
        name: What the table calls it.
        questions: The questions.
        outcomes: Their outcomes, in the same order.
        answers: Whether it answers at all; a mere retrieval has no answer metrics.
        facts: Whether its answers have citations of their own, which supporting facts are scored by.
        judged: A judge's verdicts by question id.
    """
    scores = [score_outcome(*pair) for pair in zip(questions, outcomes, strict=True)]
    for row, outcome in zip(scores, outcomes, strict=True):
        if judged is not None:
            row["judged"] = float(judged.get(outcome["id"]) is True)
        _keep(row, answers=answers, facts=facts)
    failed = [outcome for outcome in outcomes if "error" in outcome]
    ran = [row for row, outcome in zip(scores, outcomes, strict=True) if "error" not in outcome]
    refused = sum(map(declined, outcomes))
    empty = sum("error" not in outcome and not outcome["answer"].strip() for outcome in outcomes) - refused
    return ReportRow(
        name,
        metrics=_means(scores),
        answered_metrics=_means(ran),
        questions=len(questions),
        unanswered=empty if answers else 0,
        declined=refused,
        failures=Counter(outcome["error"]["type"] for outcome in failed),
        example=f"{failed[0]['id']}: {failed[0]['error']['message']}" if failed else "",
        unjudged=sum(verdict is None for verdict in (judged or {}).values()),
        scores=scores,
    )


def _keep(row: dict[str, float], *, answers: bool, facts: bool) -> None:
    if not answers:
        _drop(row, _ANSWER_METRICS)
    if not (answers and facts):
        _drop(row, {name for name in row if name.startswith(("fact_", "joint_"))})


def _drop(row: dict[str, float], names: AbstractSet[str]) -> None:
    for name in names & row.keys():
        del row[name]


def _means(scores: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    names = dict.fromkeys(name for row in scores for name in row)
    return {name: bootstrap([row[name] for row in scores if name in row]) for name in names}


@dataclass(frozen=True)
class Report:
    """Rows of one data set; the first is the method, the others what it is compared with.

    Args:
        data: Name of the data set.
        rows: At least one.
        about: What the metrics depend on: model, settings, fold, data hash, version.
    """

    data: str
    rows: Sequence[ReportRow]
    about: Mapping[str, Any] = field(default_factory=dict)

    def differences(self) -> dict[str, dict[str, Interval]]:
        """The method less each other row, by metric, over the same questions."""
        ours, *others = self.rows
        return {other.name: _difference(ours, other) for other in others}

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; not-a-number does not occur."""
        return {
            "data": self.data,
            "about": dict(self.about),
            "rows": [_row_json(row) for row in self.rows],
            "differences": {name: _metrics_json(metrics) for name, metrics in self.differences().items()},
        }

    def markdown(self) -> str:
        """A table for a page, with the failed runs under it."""
        header, *lines = self._cells()
        return "\n".join([markdown_table(header, lines), *[f"\n{note}" for note in self.notes()]])

    def table(self) -> Table:
        """A table for a terminal, with the same notes: a metric a line, so that it fits in 80 columns."""
        from rich.table import Table
        from rich.text import Text

        header, *lines = zip(*self._cells(), strict=True)
        notes = Text("\n".join(self.notes()))
        table = Table(title=f"{self.data}, {self.rows[0].questions} questions", caption=notes, caption_justify="left")
        for number, name in enumerate(header):
            table.add_column(name, justify="right" if number else "left")
        for cells in lines:
            table.add_row(*cells)
        return table

    def notes(self) -> list[str]:
        """What the table must not hide: failed and unanswered runs, and the differences with their intervals."""
        notes = []
        for row in self.rows:
            if row.failed:
                kinds = ", ".join(f"{count} {kind}" for kind, count in row.failures.items())
                notes.append(
                    f"{row.name}: {row.failed} of {row.questions} runs failed ({kinds}) and score 0; {row.example}"
                )
            if row.unanswered:
                notes.append(f"{row.name}: {row.unanswered} of {row.questions} runs ended without an answer.")
            if row.declined:
                notes.append(
                    f"{row.name}: {row.declined} of {row.questions} runs declined to answer for want of support."
                )
            if row.unjudged:
                notes.append(
                    f"{row.name}: the judge said neither yes nor no of {row.unjudged} answers; no yes for them."
                )
        for name, metrics in self.differences().items():
            shown = [f"{_PERCENT[key]} {signed(metrics[key])}" for key in _PERCENT if key in metrics]
            notes.append(f"{self.rows[0].name} less {name}: {', '.join(shown)} points (95% intervals).")
        return notes

    def _cells(self) -> list[list[str]]:
        percent = [name for name in _PERCENT if any(name in row.metrics for row in self.rows)]
        header = ["", *[_PERCENT[name] for name in percent], *_PLAIN.values()]
        lines = [
            [
                row.name,
                *[_percent(row.metrics.get(n)) for n in percent],
                *[f"{row.metrics[n].mean:.1f}" for n in _PLAIN],
            ]
            for row in self.rows
        ]
        return [header, *lines]


def _difference(ours: ReportRow, theirs: ReportRow) -> dict[str, Interval]:
    found = {}
    for name in ours.metrics:
        pairs = [(a[name], b[name]) for a, b in zip(ours.scores, theirs.scores, strict=True) if name in a and name in b]
        if pairs:
            found[name] = paired_difference([a for a, _ in pairs], [b for _, b in pairs])
    return found


def _percent(value: Interval | None) -> str:
    return "" if value is None else f"{100 * value.mean:.1f} \N{PLUS-MINUS SIGN}{50 * (value.high - value.low):.1f}"


def signed(value: Interval) -> str:
    """A difference of shares in points, with its interval."""
    return f"{100 * value.mean:+.1f} ({100 * value.low:+.1f} to {100 * value.high:+.1f})"


def _metrics_json(metrics: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: value._asdict() for name, value in metrics.items() if value.n}


def _row_json(row: ReportRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "questions": row.questions,
        "failed": row.failed,
        "failures": dict(row.failures),
        "unanswered": row.unanswered,
        "declined": row.declined,
        "unjudged": row.unjudged,
        "metrics": _metrics_json(row.metrics),
        "metrics_of_runs_that_did_not_fail": _metrics_json(row.answered_metrics),
    }
