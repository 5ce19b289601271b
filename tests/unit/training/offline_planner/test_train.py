"""The offline planner's tables at toy size: films whose directors have birthplaces, among passages that mislead."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.llm.offline.weights import NAME, SHIPPED, Tables, read_tables, shipped_tables
from langgraph_evidence.training.base import FILES
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.heads import get_head
from langgraph_evidence.training.offline_planner import data, evaluate, rollouts, train

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = train.PlannerOptions(questions=0)
FIRST = "Ann Bob Cleo Dora Egon Fritz Greta Hans Ida Jane Karl Lena".split()
LAST = "Example Person Sample Model Figure Pattern Shape Instance Token Specimen Case Type".split()
NOUNS = "Clock River Garden Mirror Castle Harbour Lantern Forest Bridge Tower Island Orchard".split()


def row(number: int) -> dict[str, Any]:
    rng = random.Random(number)
    people = [f"{first} {last}" for first, last in zip(rng.sample(FIRST, 8), rng.sample(LAST, 8), strict=True)]
    film, other = (f"The {noun}" for noun in rng.sample(NOUNS, 2))
    director, star, writer = people[:3]
    context = [
        [film, [f"{film} is a film starring {star}.", f" It was written by {writer}.", f" {director} directed it."]],
        *([person, [f"{person} is an artist.", f" {person} was born in Town {person[0]}."]] for person in people),
        [other, [f"{other} is a film directed by {people[3]}."]],
    ]
    rng.shuffle(context)
    gold = [index for index, (title, _) in enumerate(context) if title in {film, director}]
    question = f"Where was the director of {film} born?"
    return {"id": f"q{number}", "question": question, "context": context, "gold_idx": gold, "fold": number % 8}


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    for name in [name for names in FILES.values() for name in names]:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [row(number) for number in range(16)] if name == "multihop/hotpotqa_dev.jsonl" else []
        path.write_text("\n".join(map(json.dumps, rows)))
    return DataFolder(tmp_path / "data")


def test_a_fit_beats_one_on_shuffled_labels(folder: DataFolder) -> None:
    cases, held_out = data.read_cases(folder, range(7)), data.read_cases(folder, [7])
    choices = data.make_choices(cases)
    rng = random.Random(0)
    shuffled = [replace(choice, good=rng.sample(choice.good, len(choice.good))) for choice in choices]
    recalls = []
    for taught in (choices, shuffled):
        query = train.fit_queries(taught, OPTIONS)
        tables = Tables(query, {"one": -9.0})  # it never stops by itself, so that only the queries differ
        firsts = [rollouts.play(case, tables).held[:2] for case in held_out]
        recalls.append(sum(case.recall(held) for case, held in zip(held_out, firsts, strict=True)) / len(held_out))
    assert recalls[0] > recalls[1]
    assert recalls[0] == 1.0


def test_the_fit_knows_when_the_evidence_is_complete(folder: DataFolder) -> None:
    cases, held_out = data.read_cases(folder, range(7)), data.read_cases(folder, [7])
    tables = train.fit_tables(cases, OPTIONS)
    figures = evaluate.measure_planner(held_out, tables)["all"]
    assert figures["ready"] >= figures["always"]
    assert figures["recall"] > figures["one shot"]


def test_the_same_seed_gives_the_same_file(folder: DataFolder, tmp_path: Path) -> None:
    steps: list[int] = []
    head = get_head(NAME)
    results = [
        head.train(folder.root, tmp_path / name, None, resume=False, report=lambda step, *_: steps.append(step))
        for name in "ab"
    ]
    first, second = ((tmp_path / name / f"{NAME}{head.suffix}").read_bytes() for name in "ab")
    assert first == second
    assert results[0].metrics == results[1].metrics
    assert steps[-1] == OPTIONS.steps
    card = json.loads(first)
    assert set(card["details"]["data"]) == {name for names in FILES.values() for name in names}
    assert read_tables(tmp_path / "a" / SHIPPED.name).query == card["tables"]["query"]


def test_the_head_measures_the_shipped_tables(folder: DataFolder) -> None:
    rows = get_head(NAME).measure(folder.root, [7])
    assert [(row["row"], row["questions"]) for row in rows] == [("HotpotQA", 2), ("all", 2)]


def test_the_shipped_file_has_a_card_and_tables() -> None:
    details = json.loads(SHIPPED.read_text())["details"]
    assert all(len(value) == 64 for value in details["data"].values())
    assert details["figures"]["all recall"] > details["figures"]["all one shot"]
    assert details["figures"]["all ready"] > details["figures"]["all always"]
    assert "CC BY-SA" in details["licences"]
    assert shipped_tables().query["bridge/about"] > 0 > shipped_tables().ready["open"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"tables": {"query": {}}}',
        '{"tables": {"query": {"a": "1"}, "ready": {}}}',
        '{"tables": {"query": {"a": NaN}, "ready": {}}}',
        '{"tables": {"query": {}, "ready": {"a": true}}}',
    ],
)
def test_damaged_tables_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    path.write_text(text)
    with pytest.raises(ResourceError, match=r"tables\.json"):
        read_tables(path)
    with pytest.raises(ResourceError, match=r"none\.json"):
        read_tables(tmp_path / "none.json")


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(InvalidInput, match="no choices"):
        train.fit_tables([], OPTIONS)
    with pytest.raises(InvalidInput, match="two passages"):
        train.fit_ready([], OPTIONS)


def test_a_choice_is_right_when_its_query_brings_a_missing_passage(folder: DataFolder) -> None:
    case = data.read_cases(folder, [7])[0]
    first = next(index for index in case.gold if case.lines[index].startswith("The "))
    (missing,) = case.gold - {first}
    director = " ".join(case.lines[missing].split()[:2])
    assert case.found(director, [first]) == missing
    assert case.found(director, range(len(case.lines))) is None
    assert case.found("xylophone", []) is None
    assert case.recall([first]) == 0.5
    choices = data.make_choices([case])
    assert all(len(choice.good) == len(choice.features) for choice in choices)
