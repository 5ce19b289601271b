"""Records out of data sets: each kind of row by hand, what is dropped and why, and the rival's rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rq_rag_data import ARC, BRIDGE, FILES, HOPS, OBQA, written

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.training.base import DataFolder
from langgraph_evidence.training.rq_rag import MakeOptions, Record, make_records, read_records
from langgraph_evidence.training.rq_rag.make import TOO_MANY_HOPS
from langgraph_evidence.training.rq_rag.records import fold_of
from langgraph_evidence.training.rq_rag.searching import CUT_OFF, NO_SUPPORT, UNKNOWABLE


def made(folder: Path, *, changed: dict[str, list[Any]] | None = None, **options: Any) -> dict[str, Record]:
    out = folder / "records.jsonl"
    make_records(DataFolder(written(folder / "data", **(changed or {}))), out, MakeOptions(**options))
    return {record["id"]: record for record in read_records(out)}


def asked(record: Record) -> list[tuple[str, str]]:
    return [(step["action"], step["query"]) for step in record["steps"]]


def found(record: Record) -> list[list[str]]:
    return [[passage["id"] for passage in step["passages"]] for step in record["steps"]]


def test_every_data_set_has_its_queries(tmp_path: Path) -> None:
    records = made(tmp_path, changed={"break_qdmr_highlevel_dev": []}, passages=1)
    assert {name: asked(record) for name, record in records.items()} == {
        "HotpotQA/h1": [
            ("decompose", "winner of the 1998 Wimbledon Championships"),
            ("decompose", "Pete Sampras nickname"),
        ],
        "HotpotQA/h2": [("decompose", "Parsifal opera acts"), ("decompose", "Manon opera acts")],
        "2Wiki/w1": [("decompose", "The Clock director"), ("decompose", "Ann Example place of death")],
        "MuSiQue/m1": [("decompose", "Bubye River country"), ("decompose", "what is the waterfall in Zimbabwe?")],
        "MuSiQue/m2": [("decompose", "Ciro Park occupant"), ("decompose", "Benevento leader")],
        "ASQA/a1": [
            ("disambiguate", "Who sings Keep Your Head Up of 2009?"),
            ("disambiguate", "Who sings Keep Your Head Up of 2011?"),
        ],
        "NQ/n1": [("rewrite", "first owner reading football club")],
        "PopQA/6": [("rewrite", "Scooter Braun occupation")],
        "OpenBookQA/o1": [("rewrite", "Stars")],
        "ARC/arc-3": [],
    }


def test_breaks_steps_are_taken_where_they_search_for_the_compared(tmp_path: Path) -> None:
    records = made(tmp_path, passages=1)
    assert [query for _, query in asked(records["HotpotQA/h2"])] == ["acts of Parsifal", "acts of Manon"]


def test_answers_folds_and_sources_are_the_rows_own(tmp_path: Path) -> None:
    records = made(tmp_path)
    record = records["MuSiQue/m1"]
    assert (record["answer"], record["answers"], record["fold"]) == (
        "Victoria Falls",
        ["Victoria Falls", "The Falls"],
        2,
    )
    source = {"dataset": "MuSiQue", "file": "multihop/musique_dev.jsonl", "row": "m1", "model": "", "prompts": {}}
    assert record["source"] == source
    assert records["OpenBookQA/o1"]["question"] == "Stars are A: lights B: gases"
    assert records["OpenBookQA/o1"]["answer"] == OBQA["answer"]
    assert records["ARC/arc-3"]["fold"] == fold_of(str(ARC["question"])) < 8
    assert "HotpotQA/h8" not in records  # fold 8 is nobody's
    assert "HotpotQA/h9" not in records  # the same question again


def test_a_query_brings_what_was_not_shown_yet_or_by_the_paper_anything(tmp_path: Path) -> None:
    assert found(made(tmp_path / "a", passages=2)["MuSiQue/m1"]) == [["0", "2"], ["1"]]
    assert found(made(tmp_path / "b", passages=2, unseen=False)["MuSiQue/m1"]) == [["0", "2"], ["1", "2"]]


def test_open_questions_are_searched_among_distractors(tmp_path: Path) -> None:
    record = made(tmp_path, passages=1)["MuSiQue/m2"]
    assert found(record) == [["wiki:0"], ["wiki:1"]]


def test_what_lacks_its_support_is_dropped_and_counted(tmp_path: Path) -> None:
    lost = HOPS | {"id": "lost", "question": f"{HOPS['question']} Now?", "gold_idx": [0, 1, 2]}
    hidden = BRIDGE | {"id": "hidden", "question": f"{BRIDGE['question']} now", "answer": "Pistol"}
    hidden["context"] = [[t, ["x. " * 40, *s] if t == "Pete Sampras" else s] for t, s in BRIDGE["context"]]
    unread = HOPS | {
        "id": "unread",
        "question": f"{HOPS['question']} Then?",
        "context": [["Bubye River", "A river country."], *HOPS["context"][1:]],
    }
    out, data = tmp_path / "records.jsonl", tmp_path / "data"
    written(data, musique_dev=[HOPS, lost, unread], hotpotqa_train=[hidden], hotpotqa_dev=[])
    counts = make_records(
        DataFolder(data), out, MakeOptions(passages=1, passage_chars=100, datasets="MuSiQue,HotpotQA")
    )
    assert counts == {"MuSiQue": {NO_SUPPORT: 1, UNKNOWABLE: 1, "made": 2}, "HotpotQA": {CUT_OFF: 1}}
    told = json.loads((tmp_path / "records.counts.json").read_text())
    assert told["MuSiQue"] == counts["MuSiQue"]
    assert set(told["data"]) >= {"multihop/musique_dev.jsonl", "multihop/hotpotqa_train.jsonl"}


def test_the_rival_has_the_same_rows_and_as_many_passages_of_the_question_alone(tmp_path: Path) -> None:
    refined, rival = made(tmp_path / "a", passages=1), made(tmp_path / "b", passages=1, form="one_shot")
    assert list(refined) == list(rival)
    record = rival["HotpotQA/h1"]
    assert asked(record) == [("rewrite", BRIDGE["question"])]
    assert [len(ids) for ids in found(record)] == [2]
    assert record["form"] == "one_shot"
    assert rival["ARC/arc-3"]["steps"] == []


def test_the_file_is_the_same_every_time(tmp_path: Path) -> None:
    made(tmp_path / "a")
    made(tmp_path / "b")
    assert (tmp_path / "a/records.jsonl").read_bytes() == (tmp_path / "b/records.jsonl").read_bytes()


def test_data_sets_hops_and_rows_can_be_chosen(tmp_path: Path) -> None:
    assert set(made(tmp_path / "a", datasets="ARC, NQ")) == {"ARC/arc-3", "NQ/n1"}
    assert set(made(tmp_path / "b", datasets="HotpotQA", most=1)) < {"HotpotQA/h1", "HotpotQA/h2", "HotpotQA/h9"}
    data = DataFolder(written(tmp_path / "c"))
    counts = make_records(data, tmp_path / "r.jsonl", MakeOptions(max_hops=1))
    assert counts["MuSiQue"] == {TOO_MANY_HOPS: 2}
    with pytest.raises(InvalidInput, match="There is no data set 'Trivia'"):
        make_records(data, tmp_path / "r.jsonl", MakeOptions(datasets="Trivia"))


def test_a_folder_without_any_of_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no row of HotpotQA"):
        make_records(
            DataFolder(written(tmp_path, **{Path(name).stem: [] for name in FILES})), tmp_path / "r", MakeOptions()
        )


def test_a_damaged_record_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"id": "x"}\n')
    with pytest.raises(ResourceError, match=r"line 1: not a record of RQ-RAG: form: Field required"):
        read_records(path)
