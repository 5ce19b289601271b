from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.evaluation.outcome import Outcome
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.runner import outcome_of
from langgraph_evidence.evaluation.scores import score_outcome
from langgraph_evidence.types import Passage, Usage

FIRST, SECOND = "Fen is a novel. It sold well.", "Ann wrote Fen. She was born in Oslo."
QUESTION = Question(
    id="q",
    question="Where?",
    answers=("Oslo",),
    dataset="hotpotqa",
    passages=(Passage(id="f", title="Fen", text=FIRST), Passage(id="a", title="Ann", text=SECOND)),
    gold_passages=("f", "a"),
    gold_titles=("Fen", "Ann"),
    supporting_facts=(("Fen", 0), ("Ann", 1)),
    sentences={"f": ("Fen is a novel.", " It sold well."), "a": ("Ann wrote Fen.", " She was born in Oslo.")},
)


def run(*evidence: tuple[str, str], **output: Any) -> Outcome:
    found = [{"id": name, "title": title} for name, title in evidence]
    return outcome_of(QUESTION, {"answer": "in Oslo", "evidence": found, **output}, seconds=0.5)


def test_answer_passages_and_cost() -> None:
    usage = Usage(calls=3, cached_calls=0, input_tokens=10, output_tokens=5, seconds=0.1)
    scores = score_outcome(QUESTION, run(("a", "Ann"), ("x", "X"), usage=usage))
    assert (scores["em"], scores["f1"], scores["cover_em"]) == pytest.approx((0.0, 2 / 3, 1.0))
    assert (scores["passage_recall"], scores["passage_precision"], scores["passage_all_found"]) == (0.5, 0.5, 0.0)
    assert (scores["calls"], scores["tokens"], scores["seconds"], scores["passages"]) == (3.0, 15.0, 0.5, 2.0)


def test_sentences_as_evidence_are_supporting_facts() -> None:
    scores = score_outcome(QUESTION, run(("f#0", "Fen"), ("a#0", "Ann")))
    assert (scores["fact_f1"], scores["passage_recall"]) == (0.5, 1.0)
    assert scores["joint_precision"] == pytest.approx(0.25)  # answer 1/2, facts 1/2


def test_quoted_sentences_are_supporting_facts_of_whole_passages() -> None:
    start = SECOND.index("Oslo")
    quotes = [
        {"passage_id": "a", "quote_start": start, "quote_end": start + 4},
        {"passage_id": "f", "quote_start": 0, "quote_end": 3},
    ]
    scores = score_outcome(QUESTION, run(("f", "Fen"), ("a", "Ann"), citations=quotes))
    assert scores["fact_em"] == 1.0
    assert score_outcome(QUESTION, run(("f", "Fen")))["fact_recall"] == 0.0


def test_blocks_count_for_their_passage() -> None:
    assert score_outcome(QUESTION, run(("f:0", "Fen"), ("f:1", "Fen")))["passage_precision"] == 1.0


def test_a_foreign_index_is_compared_by_title() -> None:
    assert score_outcome(QUESTION, run(("77", "Fen"), ("78", "Moss")))["passage_recall"] == 0.5


def test_a_failed_question_scores_nothing_even_if_nothing_is_the_answer() -> None:
    failed = run()
    failed["error"] = {"type": "X", "message": "m"}
    failed["answer"] = "Oslo"
    scores = score_outcome(QUESTION, failed)
    assert scores["em"] == scores["cover_em"] == scores["passage_recall"] == 0.0
