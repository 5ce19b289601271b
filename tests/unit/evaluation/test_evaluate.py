from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.baselines import as_many_as
from langgraph_evidence.evaluation.datasets import load_data
from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation
from langgraph_evidence.evaluation.outcome import Outcome
from langgraph_evidence.evaluation.runner import outcome_of
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods import Components, Method
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.retrieval import Corpus, build_index

ROWS = [
    {
        "id": f"q{n}",
        "dataset": "hotpotqa",
        "question": f"Who wrote the novel Fen{n}?",
        "answer": "Ann Moe",
        "type": "bridge",
        "context": [
            [f"Fen{n}", [f"The novel Fen{n} was written by Ann Moe."]],
            ["Moss", ["Moss is no novel, whoever wrote it."]],
            ["Ann Moe", ["Ann Moe lives in Oslo."]],
        ],
        "gold_idx": [0, 2],
        "supporting_facts": [[f"Fen{n}", 0], ["Ann Moe", 0]],
        "fold": 7,
    }
    for n in range(3)
]


class State(TypedDict, total=False):
    question: str
    answer: str
    evidence: list[dict[str, str]]
    stopped: str


def everything(parts: Components, settings: Any) -> StateGraph[Any, Any, Any, Any]:
    """A method that keeps the two passages that its retriever likes best for a query it knows."""

    def body(state: State) -> State:
        documents = [*parts.retriever.invoke(state["question"], k=1), *parts.retriever.invoke("Ann Moe Oslo", k=1)]
        evidence = [{"id": item.id, "title": item.metadata["title"], "text": item.page_content} for item in documents]
        return State(answer="Ann Moe", evidence=evidence, stopped="answered")

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    builder.add_node("body", body)
    builder.add_edge(START, "body")
    builder.add_edge("body", END)
    return builder


METHOD = Method(name="toy", paper="none", settings=FurepaSettings, create=everything)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "toy.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS))
    return path


def chat() -> ScriptedChat:
    return ScriptedChat(rules=[("written by Ann Moe", "[Analysis] It says so.\n[Answer] Ann"), ("", "[Answer] nobody")])


def test_a_method_is_measured_beside_one_shot_retrieval_of_as_many_passages(data: Path) -> None:
    report = run_evaluation(METHOD, data, model=chat(), fold=7, options=EvaluationOptions(fixed_k=1))
    toy, as_many, fixed = report.rows
    assert [row.name for row in report.rows] == ["toy", "one-shot, as many", "one-shot, k=1"]
    assert (toy.metrics["em"].mean, toy.metrics["passage_recall"].mean) == (1.0, 1.0)
    assert (as_many.metrics["passages"].mean, fixed.metrics["passages"].mean) == (2.0, 1.0)
    assert fixed.metrics["passage_recall"].mean == 0.5
    assert (as_many.metrics["em"].mean, as_many.metrics["f1"].mean) == pytest.approx((0.0, 2 / 3))
    assert as_many.metrics["calls"].mean == 1.0
    assert report.about["fold"] == 7


def test_retrieval_alone_makes_no_call(data: Path) -> None:
    report = run_evaluation(METHOD, data, model=ScriptedChat(rules=[]), options=EvaluationOptions(direct=False))
    assert "em" not in report.rows[1].metrics
    assert report.rows[1].metrics["calls"].mean == 0.0


def test_a_second_run_asks_nothing_and_gives_the_same_report(data: Path, tmp_path: Path) -> None:
    told: list[str] = []
    options = EvaluationOptions(runs=tmp_path / "runs")

    def run(limit: int | None = None) -> Any:
        progress = lambda name, outcome: told.append(f"{name} {outcome['id']}")  # noqa: E731 - one line says it
        return run_evaluation(METHOD, data, model=chat(), limit=limit, options=options, progress=progress).to_json()

    first = run()
    assert len(told) == 6
    assert run() == first
    assert len(told) == 6
    run(limit=2)
    assert len(told) == 10


def test_a_shared_index_serves_every_question(data: Path, tmp_path: Path) -> None:
    build_index(Corpus.load(data), tmp_path / "index")
    options = EvaluationOptions(index=tmp_path / "index", direct=False)
    report = run_evaluation(METHOD, data, model=chat(), options=options)
    assert report.rows[0].metrics["passage_recall"].mean == 1.0
    assert "index" in report.about["retrieval"]


def test_questions_without_paragraphs_need_an_index(tmp_path: Path) -> None:
    path = tmp_path / "open.jsonl"
    path.write_text(json.dumps({"id": "o", "question": "Q?", "answer": "A", "gold_pids": [1]}))
    with pytest.raises(InvalidInput, match="index"):
        run_evaluation(METHOD, path, model=chat())


def test_a_judge_is_asked_about_the_methods_answers(data: Path) -> None:
    rules = [(Asks("judge", lambda call: call.values["prediction"] == "Ann Moe"), "Yes"), ("", "No")]
    judge = ScriptedChat(rules=rules)
    report = run_evaluation(METHOD, data, model=chat(), options=EvaluationOptions(judge=judge))
    assert [row.metrics["judged"].mean for row in report.rows] == [1.0, 0.0]


def test_a_failed_run_is_compared_with_the_average_number_of_passages(data: Path) -> None:
    def kept(number: int) -> list[dict[str, str]]:
        return [{"id": str(n), "title": "t"} for n in range(number)]

    questions = load_data(data).questions
    outcomes: list[Outcome] = [
        outcome_of(question, {"evidence": kept(number)}, seconds=0.0)
        for question, number in zip(questions, (1, 4, 0), strict=True)
    ]
    assert as_many_as(outcomes) == {"q0": 1, "q1": 4, "q2": 0}
    outcomes[2]["error"] = {"type": "X", "message": "m"}
    assert as_many_as(outcomes)["q2"] == 2


def test_baseline_and_judge_are_asked_without_a_temperature_where_none_is_given(data: Path) -> None:
    model, judge = chat(), ScriptedChat(rules=[("", "Yes")])
    run_evaluation(METHOD, data, model=model, options=EvaluationOptions(judge=judge, temperature=None))
    assert {call["kwargs"].get("temperature") for call in [*model.calls, *judge.calls]} == {None}
    assert (len(model.calls), len(judge.calls)) == (3, 6)
