from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from langgraph_evidence.evaluation.outcome import Outcome
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.report import Report, report_row
from langgraph_evidence.evaluation.runner import outcome_of
from langgraph_evidence.types import Passage

PASSAGES = (Passage(id="a", title="A", text="x"), Passage(id="b", title="B", text="y"))
QUESTIONS = [
    Question(id=f"q{n}", question="Q?", answers=("yes",), dataset="hotpotqa", passages=PASSAGES, gold_passages=("a",))
    for n in range(4)
]


def outcome(question: Question, answer: str, found: str) -> Outcome:
    return outcome_of(question, {"answer": answer, "evidence": [{"id": found, "title": found}]}, seconds=1.0)


def failed(question: Question) -> Outcome:
    return {**outcome(question, "", "b"), "error": {"type": "ModelError", "message": "time-out"}}


def report() -> Report:
    first, second, third, fourth = QUESTIONS
    ours = [outcome(first, "yes", "a"), outcome(second, "yes", "a"), outcome(third, "", "b"), failed(fourth)]
    theirs = [outcome(question, "", "b") for question in QUESTIONS]
    return Report(
        "toy", [report_row("ours", QUESTIONS, ours), report_row("one-shot", QUESTIONS, theirs, answers=False)]
    )


def test_failures_score_zero_and_are_counted_apart() -> None:
    row = report().rows[0]
    assert (row.questions, row.failed, row.unanswered, row.failures) == (4, 1, 1, {"ModelError": 1})
    assert row.metrics["em"].mean == 0.5
    assert row.answered_metrics["em"].mean == pytest.approx(2 / 3)
    assert row.answered_metrics["em"].n == 3


def test_a_declined_answer_is_neither_wrong_nor_missing() -> None:
    checked: dict[str, Any] = {"cited_by": "verified", "evidence": [{"id": "a", "title": "a"}]}
    guess = {**checked, "stopped": "unsupported", "support": 0.2, "guess": {"answer": "no"}, "answer": ""}
    outputs: list[dict[str, Any]] = [
        {**checked, "answer": "yes", "stopped": "answered", "support": 0.9, "guess": None},
        guess,
        {**guess, "answer": "no"},  # asked for
        {**checked, "answer": "", "stopped": "no_answer", "support": 0.0, "guess": None},
    ]
    found = [outcome_of(question, output, seconds=1.0) for question, output in zip(QUESTIONS, outputs, strict=True)]
    assert [(row.get("support"), row.get("guess")) for row in found] == [
        (0.9, None),
        (0.2, "no"),
        (0.2, "no"),
        (0, None),
    ]
    row = report_row("ours", QUESTIONS, found)
    assert (row.declined, row.unanswered) == (1, 1)
    assert row.metrics["declined"].mean == 0.25
    assert (row.metrics["em_given"].mean, row.metrics["em_given"].n) == (0.5, 2)
    assert row.metrics["support"].mean == pytest.approx((0.9 + 0.2) / 2)
    assert "ours: 1 of 4 runs declined to answer for want of support." in Report("toy", [row]).notes()
    assert Report("toy", [row]).to_json()["rows"][0]["declined"] == 1


def test_a_retrieval_has_no_answer_columns_and_no_unanswered_questions() -> None:
    row = report().rows[1]
    assert "em" not in row.metrics
    assert row.unanswered == 0
    assert row.metrics["passage_recall"].mean == 0.0


def test_differences_are_paired() -> None:
    difference = report().differences()["one-shot"]
    assert "em" not in difference
    assert difference["passage_recall"].mean == 0.5


def test_every_form_shows_the_failures() -> None:
    shown = report()
    table = shown.markdown()
    assert table.splitlines()[0].startswith("|  | EM | F1 | cover-EM | recall |")
    assert "| ours | 50.0 " in table
    assert "ours: 1 of 4 runs failed (1 ModelError) and score 0; q3: time-out" in table
    assert "ours: 1 of 4 runs ended without an answer." in table
    assert "ours less one-shot: recall +50.0" in table
    screen = StringIO()
    Console(width=300, file=screen).print(shown.table())
    assert "toy, 4 questions" in screen.getvalue()
    assert "1 of 4 runs failed" in " ".join(screen.getvalue().split())
    assert "50.0 ±" in screen.getvalue()
    row = json.loads(json.dumps(shown.to_json(), allow_nan=False))["rows"][0]
    assert (row["failed"], row["metrics"]["em"]["mean"], row["metrics"]["em"]["n"]) == (1, 0.5, 4)


def test_a_judge_adds_a_column_in_which_no_verdict_is_wrong() -> None:
    outcomes = [outcome(question, "yes", "a") for question in QUESTIONS]
    row = report_row("ours", QUESTIONS, outcomes, judged={"q0": True, "q1": None, "q2": False})
    assert (row.metrics["judged"].mean, row.unjudged) == (0.25, 1)
    assert "neither yes nor no of 1 answers" in " ".join(Report("toy", [row]).notes())
