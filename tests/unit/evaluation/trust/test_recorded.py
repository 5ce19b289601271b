"""Runs are kept whole, a stopped recording goes on, and gold sentences are found at their places."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.question import GoldStep, Question
from langgraph_evidence.evaluation.trust.gold import GoldSpan, Quoted, gold_spans, is_gold, quote_hits
from langgraph_evidence.evaluation.trust.recorded import read_runs, record, sampled
from langgraph_evidence.types import Passage

TEXT = "The Clock is a film. Dr. Ann Example directed it in Rome. It is long."
CLOCK = Passage(id="c", title="The Clock", text=TEXT)
OTHER = Passage(id="o", title="The Clock", text="A clock tells the time. It is a tool.")
NAMED = Question(
    "q1",
    "Who directed The Clock?",
    ("Ann Example",),
    "hotpotqa",
    passages=(OTHER, CLOCK),
    gold_passages=("c",),
    supporting_facts=(("The Clock", 1),),
    sentences={
        "c": ("The Clock is a film.", " Dr. Ann Example directed it in Rome.", " It is long."),
        "o": ("A clock",),
    },
)
STEPS = Question(
    "q2",
    "Where was the film directed?",
    ("Rome", "Roma"),
    "musique",
    passages=(OTHER, CLOCK),
    steps=(GoldStep("Which film?", "clock", "o"), GoldStep("Where?", "Roma", "c"), GoldStep("Whence?", "Bonn", None)),
)


def test_a_named_fact_is_the_sentence_of_the_gold_paragraph_not_of_its_namesake() -> None:
    (span,) = gold_spans(NAMED)
    assert (span.passage_id, TEXT[span.start : span.end]) == ("c", "Dr. Ann Example directed it in Rome.")


def test_a_step_has_the_sentences_of_its_paragraph_that_hold_its_answer() -> None:
    steps = Question("q", "?", ("Rome", "Roma"), "musique", passages=(OTHER, CLOCK), steps=STEPS.steps[:2])
    spans = gold_spans(steps)
    assert [(span.passage_id, span.start) for span in spans] == [("o", 0), ("c", 21)]
    # With a last step that has no paragraph, its aliases say nothing of the step before it.
    assert [span.passage_id for span in gold_spans(STEPS)] == ["o"]


def test_a_question_without_either_has_no_gold_sentence() -> None:
    assert gold_spans(Question("q", "?", ("a",), "hotpotqa", passages=(CLOCK,))) == ()


def quote(start: Any, end: Any, passage: Any = "c") -> Any:
    return {"passage_id": passage, "quote_start": start, "quote_end": end}


@pytest.mark.parametrize(
    ("start", "end", "hit"), [(20, 57, True), (0, 69, True), (30, 40, True), (21, 56, True), (0, 30, False)]
)
def test_a_quote_is_gold_when_it_holds_a_gold_sentence_or_lies_in_one(start: Any, end: Any, hit: Any) -> None:
    assert is_gold(quote(start, end), [GoldSpan("c", 21, 57)]) is hit
    assert not is_gold(quote(start, end, "o"), [GoldSpan("c", 21, 57)])


def test_quotes_are_compared_at_as_many_a_question() -> None:
    gold = [GoldSpan("c", 0, 10)]
    good, bad = quote(0, 10), quote(20, 30)
    runs = [Quoted([good, bad], [bad], gold), Quoted([good], [good, bad, bad], gold), Quoted([], [good], gold)]
    found = quote_hits(runs)
    assert (found.quotes, found.ours, found.theirs) == (2, 1.0, 0.5)
    assert found.gain.mean == pytest.approx(0.5)
    assert (found.all_ours, found.all_theirs) == ((3, 2), (5, 2))
    nothing = quote_hits([])
    assert nothing.quotes == 0
    assert nothing.gain.n == 0


async def answer(question: Any) -> Any:
    return {"answer": f"to {question.id}", "stopped": "answered", "evidence": [CLOCK | {"score": 1.0}]}


def test_a_stopped_recording_goes_on_where_it_was(tmp_path: Any) -> None:
    path, told = tmp_path / "runs.jsonl", []
    run_sync(record([NAMED], answer, path, method="m", model="x"))
    with path.open("ab") as file:
        file.write(b'{"half of a li')
    run_sync(record([NAMED, STEPS], answer, path, method="m", model="x", on_run=lambda run: told.append(run.id)))
    first, second = read_runs(path)
    assert told == ["q2"]
    assert (first.id, first.answer, first.gold) == ("q1", "to q1", gold_spans(NAMED))
    assert first.evidence == (CLOCK,)
    assert second.answers == ("Rome", "Roma")


def test_runs_of_another_method_are_not_mixed_in(tmp_path: Any) -> None:
    path = tmp_path / "runs.jsonl"
    run_sync(record([NAMED], answer, path, method="m", model="x"))
    with pytest.raises(InvalidInput, match="another file"):
        run_sync(record([STEPS], answer, path, method="n", model="x"))


def test_a_damaged_recording_says_where(tmp_path: Any) -> None:
    path = tmp_path / "runs.jsonl"
    with pytest.raises(ResourceError, match="no recording"):
        read_runs(path)
    path.write_text('{"id": 1}\n')
    with pytest.raises(ResourceError, match="line 1"):
        read_runs(path)


def test_the_first_questions_are_a_sample_that_the_seed_decides() -> None:
    questions = [Question(str(number), "?", ("a",), "hotpotqa") for number in range(20)]
    first = sampled(questions, seed=1)
    assert first == sampled(questions[::-1], seed=1)
    assert first not in (questions, sampled(questions, seed=2))
