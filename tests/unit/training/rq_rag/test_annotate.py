"""The annotation by a chat model: each stage, what is dropped and why, and a real kill in the middle."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rq_rag_annotator import DRAFTS, scripted

from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.llm.scripts import Asks, Fault
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.training.rq_rag import MakeOptions, Record, read_records
from langgraph_evidence.training.rq_rag.annotate import AnnotateOptions, annotate
from langgraph_evidence.training.rq_rag.annotate.pipeline import MADE, UNFINISHED, prompt_hashes
from langgraph_evidence.training.rq_rag.annotate.stages import MALFORMED, NO_ANSWER, NOT_NEEDED, REFUSED
from langgraph_evidence.training.rq_rag.searching import NO_SUPPORT

SUPPORT = Path(__file__).parents[3] / "support"
OPTIONS = AnnotateOptions(make=MakeOptions(passages=1))


def records_of(out: Path) -> dict[str, Record]:
    return {record["source"]["row"]: record for record in read_records(out / "records.jsonl")}


def lines(out: Path) -> list[str]:
    return sorted(
        f"{path.stem} {json.loads(line)['id']}"
        for path in out.glob("?-*.jsonl")
        for line in path.read_text().splitlines()
    )


def changed(*rules: tuple[Any, Any]) -> ScriptedChat:
    model = scripted()
    model.rules = [*rules, *model.rules]
    return model


def about(row: str) -> Any:
    return lambda call: f"of {row} " in call.values["question"]


def test_queries_and_answers_are_the_annotators(tmp_path: Path) -> None:
    counts = annotate(DRAFTS, scripted(), tmp_path, OPTIONS)
    assert counts == {MADE: len(DRAFTS)}
    record = records_of(tmp_path)["1"]
    assert [(step["action"], step["query"]) for step in record["steps"]] == [
        ("decompose", "River 1 country"),
        ("decompose", "Land 1 capital"),
    ]
    assert record["answer"] == "a new answer"
    assert record["answers"] == ["Town 1"]
    hashes = prompt_hashes()
    used = ("rq_rag.decompose", "rq_rag.answer")
    expected = {"dataset": "MuSiQue", "file": "f", "row": "1", "model": "ScriptedChat 'scripted'"}
    assert record["source"] == expected | {"prompts": {name: hashes[name] for name in used}}
    assert json.loads((tmp_path / "counts.json").read_text()) == counts


def test_a_type_that_the_data_set_does_not_tell_is_asked_for(tmp_path: Path) -> None:
    unknown = [replace(DRAFTS[0], dataset="Dialogue")]
    model = changed(
        (Asks("rq_rag.choose"), "answer\nrewrite"),
        (Asks("rq_rag.rewrite"), "Retrieval Necessity: yes\nRiver 1\nLand 1"),
    )
    annotate(unknown, model, tmp_path, OPTIONS)
    assert [step["action"] for step in records_of(tmp_path)["1"]["steps"]] == ["rewrite", "rewrite"]
    assert json.loads((tmp_path / "1-classify.jsonl").read_text())["value"] == "rewrite"


def test_what_is_unusable_is_dropped_with_its_reason(tmp_path: Path) -> None:
    model = changed(
        (Asks("rq_rag.decompose", about("1")), "I'm sorry, but as an AI I cannot help with that."),
        (Asks("rq_rag.decompose", about("2")), "..."),
        (Asks("rq_rag.decompose", about("3")), "Retrieval Necessity: no"),
        (Asks("rq_rag.decompose", about("4")), "River 4 country"),
        (Asks("rq_rag.answer", about("5")), "unknown"),
        (Asks("rq_rag.answer", about("6")), "I cannot answer that."),
    )
    counts = annotate(DRAFTS, model, tmp_path, OPTIONS)
    assert counts == {
        f"refine: {REFUSED}": 1, f"refine: {MALFORMED}": 1, f"refine: {NOT_NEEDED}": 1, f"search: {NO_SUPPORT}": 1,
        f"answer: {NO_ANSWER}": 1, f"answer: {REFUSED}": 1, MADE: len(DRAFTS) - 6,
    }  # fmt: skip
    assert set(records_of(tmp_path)) == {"7", "8"}
    kept = [json.loads(line) for line in (tmp_path / "2-refine.jsonl").read_text().splitlines()]
    assert next(row["reply"] for row in kept if row["id"] == "MuSiQue/1").startswith("I'm sorry")
    # A refusal is not argued with; a malformed reply is asked for once more.
    refine = [call["prompt"].values["question"] for call in model.calls if call["prompt"].name == "rq_rag.decompose"]
    assert [sum(f"of {row} " in question for question in refine) for row in (1, 2, 7)] == [1, 2, 1]


@pytest.mark.parametrize(("share", "kept"), [(0.0, 0), (1.0, 8)])
def test_a_share_of_the_answers_may_stay(share: float, kept: int, tmp_path: Path) -> None:
    annotate(DRAFTS, scripted(), tmp_path, AnnotateOptions(original_share=share, make=OPTIONS.make))
    answers = [record["answer"] for record in records_of(tmp_path).values()]
    assert sum(answer.startswith("Town") for answer in answers) == kept


def test_half_of_them_are_the_same_half_each_time(tmp_path: Path) -> None:
    half = AnnotateOptions(original_share=0.5, make=OPTIONS.make)
    for name in "ab":
        annotate(DRAFTS, scripted(), tmp_path / name, half)
    assert (tmp_path / "a/records.jsonl").read_bytes() == (tmp_path / "b/records.jsonl").read_bytes()
    assert 0 < sum(record["answer"].startswith("Town") for record in records_of(tmp_path / "a").values()) < 8


def test_rows_are_under_way_at_the_same_time(tmp_path: Path) -> None:
    model = scripted(latency=0.2)
    annotate(DRAFTS, model, tmp_path, AnnotateOptions(concurrency=4, make=OPTIONS.make))
    assert 1 < model.most_in_flight <= 4


def test_a_call_that_fails_is_made_by_the_next_run(tmp_path: Path) -> None:
    model = ScriptedChat(rules=scripted().rules, faults=[Fault(match="of 2 ", status=400)])
    assert annotate(DRAFTS, model, tmp_path, OPTIONS) == {MADE: 7, UNFINISHED: 1}
    again = scripted()
    assert annotate(DRAFTS, again, tmp_path, OPTIONS) == {MADE: 8}
    assert len(again.calls) == 2


def test_a_model_that_refuses_every_call_ends_it(tmp_path: Path) -> None:
    model = ScriptedChat(rules=[], faults=[Fault(match=".", status=401)])
    with pytest.raises(ModelError):
        annotate(DRAFTS, model, tmp_path, OPTIONS)


def test_another_model_or_other_options_are_refused(tmp_path: Path) -> None:
    annotate(DRAFTS, scripted(), tmp_path, OPTIONS)
    with pytest.raises(ResourceError, match="begun with another model, data or options"):
        annotate(DRAFTS, scripted(), tmp_path, AnnotateOptions(make=MakeOptions(passages=2)))
    with pytest.raises(InvalidInput, match="no rows to annotate"):
        annotate([], scripted(), tmp_path, OPTIONS)


def test_the_offline_model_annotates_too(tmp_path: Path) -> None:
    counts = annotate(DRAFTS[:2], "offline", tmp_path, AnnotateOptions(make=MakeOptions(passages=3)))
    assert sum(counts.values()) == 2
    assert UNFINISHED not in counts


@pytest.mark.slow
def test_a_kill_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "killed"
    annotate(DRAFTS, scripted(), whole, OPTIONS)
    words = [sys.executable, str(SUPPORT / "rq_rag_annotator.py"), str(out), str(tmp_path / "log")]
    first = subprocess.Popen(words)
    while not list(out.glob("2-*.jsonl")):
        assert first.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    with pytest.raises(ResourceError, match="Another process annotates"):
        annotate(DRAFTS, scripted(), out, OPTIONS)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    before = lines(out)
    assert 0 < len(before) < len(lines(whole))
    with next(out.glob("2-*.jsonl")).open("a") as file:
        file.write('{"id": "MuSiQue/8", "dro')  # what a power cut leaves of a line
    subprocess.run(words, check=True)
    assert lines(out) == lines(whole)
    assert (out / "records.jsonl").read_bytes() == (whole / "records.jsonl").read_bytes()
    # A call whose reply was stored is not made again: those that are, were under way at the kill.
    asked = (tmp_path / "log").read_text().splitlines()
    assert len(asked) - len(set(asked)) <= OPTIONS.concurrency
