"""REBEL's tables: which questions a row takes, what counts as right, a harness that an oracle passes."""

import asyncio
import json
from typing import Any

import pytest

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.celebrities import (
    CATEGORIES,
    PAPER,
    digest,
    is_right,
    load_celebrities,
    load_fever,
    run_table,
)
from langgraph_evidence.evaluation.oracle import oracle_model, oracle_tool
from langgraph_evidence.evaluation.outcome import Journal, RunIdentity
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.runner import graph_answerer
from langgraph_evidence.methods.rebel import RebelSettings, create_rebel


@pytest.fixture
def path(tmp_path: Any) -> Any:
    rows = [
        {
            "id": f"{category}-{n}",
            "question": f"What is the {category} of [Person] {n}, the younger?",
            "answer": [n if "lat" in category else f"€{n}"],
            "q1": f"Where was [Person] {n}, the younger, born ({category})?",
            "a1": [f"Place {n}"],
            "q2": f"What is the {category} of Place {n}?",
            "a2": [n if "lat" in category else f"€{n}"],
            "category": category,
        }
        for category in [*CATEGORIES, "birthplace_tld"]
        for n in range(6)
    ]
    file = tmp_path / "celebrities.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_row_is_drawn_by_its_seed_from_each_of_the_five_categories(path: Any) -> None:
    rows = load_celebrities(path, count=4)
    assert list(rows) == list(CATEGORIES.values()) == list(PAPER)[:5]
    assert {len(questions) for questions in rows.values()} == {4}
    assert load_celebrities(path, count=4) == rows != load_celebrities(path, count=4, seed=1)
    (question, *_) = rows["birthplace rounded lat"]
    assert [step.answer for step in question.steps][1] == question.answers[0]
    with pytest.raises(ResourceError, match="has 6 questions; 7 were asked for"):
        load_celebrities(path, count=7)
    with pytest.raises(InvalidInput):
        load_celebrities(path, count=0)


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("33", "The latitude is 33.", True),
        ("33", "33.0 degrees", True),
        ("33", "33.9", False),
        ("33", "133", False),
        ("15", "-15", False),
        ("-15", "-15 degrees", True),
        ("€", "It is the € sign", True),
        ("Fr", "CFA Franc (Fr)", True),
        ("Fr", "France", False),
        ("Franklin D. Roosevelt", "franklin  d. roosevelt was", True),
        ("Luigi Pirandello", "", False),
    ],
)
def test_an_answer_is_right_when_it_contains_the_gold_one_whole(gold: Any, answer: Any, right: Any) -> None:
    assert is_right(Question("a", "?", (gold,), "compositional-celebrities"), answer) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [("SUPPORTS", True), ("Yes, it is true.", True), ("REFUTES", False), ("SUPPORTS or REFUTES", False), ("", False)],
)
def test_a_verdict_is_right_when_it_is_the_label_alone(answer: Any, right: Any) -> None:
    assert is_right(Question("a", "?", ("SUPPORTS",), "fever"), answer) is right


@pytest.mark.parametrize(
    ("answer", "right"), [("University of New South Wales", True), ("universities", False), ("", False)]
)
def test_an_article_does_not_make_a_hotpotqa_answer_wrong(answer: Any, right: Any) -> None:
    assert is_right(Question("a", "?", ("The University of New South Wales",), "hotpotqa"), answer) is right


def test_fever_leaves_out_what_is_neither_supported_nor_refuted(tmp_path: Any) -> None:
    labels = ["SUPPORTS", "NOT ENOUGH INFO", "REFUTES"]
    rows = [{"id": n, "claim": f"C {n}.", "label": label, "fold": n} for n, label in enumerate(labels)]
    file = tmp_path / "fever.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = load_fever(file, count=2)
    assert {question.answers for question in found} == {("SUPPORTS",), ("REFUTES",)}
    assert '"C ' in found[0].question
    assert [question.id for question in load_fever(file, count=1, fold=2)] == ["2"]


def test_a_scripted_oracle_reaches_every_answer_and_a_second_run_asks_nothing(path: Any, tmp_path: Any) -> None:
    rows = load_celebrities(path, count=3)
    every = [question for questions in rows.values() for question in questions]
    model = oracle_model(every)
    graph = create_rebel(model, [oracle_tool(every)], settings=RebelSettings(near=1.0)).compile()

    def journal(row: Any, method: Any) -> Any:
        identity = RunIdentity(method=method, model="x", data_sha256=digest(rows[row]), version="1")
        return Journal(tmp_path / "runs", identity)

    told = []
    for _ in range(2):
        asked = run_table(
            rows,
            {"REBEL": graph_answerer(lambda _: graph)},
            journal=journal,
            on_outcome=lambda *outcome: told.append(outcome),
        )
        table = asyncio.run(asked)
        assert {cell.accuracy for cells in table.cells.values() for cell in cells.values()} == {100.0}
    assert len(told) == 15
    lines = table.markdown().split("\n")
    assert lines[0].startswith("| accuracy % | REBEL | paper: ReAct |")
    assert lines[2] == "| birthplace rounded lat | 100 | 28 | 16 | 39 | 59 |"
    assert "15 questions" in lines[-1]


def test_a_failed_run_is_wrong_and_counted(path: Any) -> None:
    async def breaks(_question: Any) -> Any:
        raise RuntimeError("down")

    rows = {"birthplace currency": load_celebrities(path, count=2)["birthplace currency"]}
    table = asyncio.run(run_table(rows, {"broken": breaks}))
    cell = table.cells["birthplace currency"]["broken"]
    assert (cell.accuracy, cell.failed) == (0.0, 2)
    assert "2 runs failed" in table.markdown()
