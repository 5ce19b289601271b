from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.evaluation.outcome import Journal, RunIdentity, declined
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.runner import graph_answerer, run_questions

QUESTIONS = [Question(id=f"q{n}", question=f"What is {n}?", answers=(str(n),), dataset="hotpotqa") for n in range(8)]
IDENTITY = RunIdentity(method="furepa", model="offline", data_sha256="ab", version="0.1.0", settings={"iterations": 2})


async def echo(question: Question) -> dict[str, Any]:
    return {
        "answer": question.id,
        "evidence": [{"id": "p", "title": "P", "text": "x" * 99}],
        "citations": [{"passage_id": "p", "quote_start": 0, "quote_end": 3, "quote": "xxx"}],
        "stopped": "answered",
    }


async def test_outcomes_come_in_order_and_never_more_at_once_than_asked() -> None:
    under_way, most = 0, 0

    async def answer(question: Question) -> dict[str, Any]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001 * (8 - int(question.id[1])))
        under_way -= 1
        return await echo(question)

    outcomes = await run_questions(answer, QUESTIONS, concurrency=3)
    assert [outcome["id"] for outcome in outcomes] == [question.id for question in QUESTIONS]
    assert most == 3
    assert outcomes[0]["evidence"] == [{"id": "p", "title": "P"}]
    assert "x" * 99 not in json.dumps(outcomes)


async def test_a_failed_question_is_a_typed_row_and_is_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(question: Question) -> dict[str, Any]:
        asked.append(question.id)
        if question.id == "q1" and asked.count("q1") == 1:
            raise RuntimeError("the wire broke")
        return await echo(question)

    first = await run_questions(answer, QUESTIONS[:3], journal=Journal(tmp_path, IDENTITY))
    assert first[1].get("error") == {"type": "RuntimeError", "message": "the wire broke"}
    assert (first[1]["answer"], first[1]["stopped"]) == ("", "failed")
    second = await run_questions(answer, QUESTIONS[:3], journal=Journal(tmp_path, IDENTITY))
    assert "error" not in second[1]
    assert sorted(asked) == ["q0", "q1", "q1", "q2"]


@pytest.mark.parametrize(
    "error", [InvalidInput("bad setting"), ResourceError("no index"), ModelError("key", status=401)]
)
async def test_what_would_fail_every_question_ends_the_run(error: Exception) -> None:
    async def answer(question: Question) -> dict[str, Any]:
        raise error

    with pytest.raises(type(error)):
        await run_questions(answer, QUESTIONS)
    with pytest.raises(InvalidInput, match="at least 1"):
        await run_questions(echo, QUESTIONS, concurrency=0)


async def test_a_passing_model_error_fails_one_question_only() -> None:
    async def answer(question: Question) -> dict[str, Any]:
        if question.id == "q0":
            raise ModelError("busy", status=503, transient=True)
        return await echo(question)

    outcomes = await run_questions(answer, QUESTIONS)
    assert [("error" in outcome) for outcome in outcomes] == [True] + [False] * 7


async def test_a_graph_is_made_for_each_question() -> None:
    def make(question: Question) -> RunnableLambda[Any, Any]:
        return RunnableLambda(lambda state: {"answer": f"{question.id}:{state['question']}"})

    outcomes = await run_questions(graph_answerer(make), QUESTIONS[:2])
    assert outcomes[1]["answer"] == "q1:What is 1?"


def test_a_run_is_known_by_everything_it_depends_on() -> None:
    base: dict[str, Any] = {"method": "m", "model": "o", "data_sha256": "a", "version": "1"}
    changes: list[dict[str, Any]] = [
        {"method": "n"},
        {"model": "p"},
        {"data_sha256": "b"},
        {"version": "2"},
        {"settings": {"x": 1}},
        {"fold": 7},
        {"limit": 3},
        {"retrieval": "index"},
    ]
    keys = {RunIdentity(**{**base, **change}).key for change in [{}, *changes]}
    assert len(keys) == 9
    assert RunIdentity(**base, settings={"a": 1, "b": 2}).key == RunIdentity(**base, settings={"b": 2, "a": 1}).key
    with pytest.raises(InvalidInput, match="plain JSON"):
        _ = RunIdentity(**base, settings={"a": object()}).key


async def test_a_half_written_line_is_cut_off(tmp_path: Path) -> None:
    journal = Journal(tmp_path, IDENTITY)
    await run_questions(echo, QUESTIONS[:2], journal=journal)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-9])
    again = Journal(tmp_path, IDENTITY)
    assert list(again.done) == ["q0"]
    await run_questions(echo, QUESTIONS[:2], journal=again)
    assert again.path.read_bytes().count(b"\n") == 2
    assert Journal(tmp_path, IDENTITY).done.keys() == {"q0", "q1"}


async def test_a_reply_that_is_no_unicode_text_is_kept(tmp_path: Path) -> None:
    async def answer(question: Question) -> dict[str, Any]:
        return {"answer": "half \ud83d"}

    await run_questions(answer, QUESTIONS[:1], journal=Journal(tmp_path, IDENTITY))
    assert Journal(tmp_path, IDENTITY).done["q0"]["answer"] == "half \ud83d"


def test_a_damaged_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = Journal(tmp_path, IDENTITY).path
    path.write_text('{"answer": 1}\n')
    with pytest.raises(ResourceError, match="line 1"):
        Journal(tmp_path, IDENTITY)


_SLOW = """
import asyncio, pathlib, sys
from langgraph_evidence.evaluation.outcome import Journal, RunIdentity
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.runner import run_questions
folder = pathlib.Path(sys.argv[1])
async def answer(question):
    with (folder / "asked").open("a") as file:
        file.write(question.id + "\\n")
    await asyncio.sleep(0.05)
    return {"answer": question.id}
questions = [Question(id=f"q{n}", question="?", answers=("x",), dataset="d") for n in range(20)]
identity = RunIdentity(method="m", model="o", data_sha256="a", version="1")
asyncio.run(run_questions(answer, questions, concurrency=1, journal=Journal(folder, identity)))
"""


def test_a_killed_run_does_not_ask_a_finished_question_again(tmp_path: Path) -> None:
    identity = RunIdentity(method="m", model="o", data_sha256="a", version="1")
    rows = tmp_path / identity.key / "rows.jsonl"
    process = subprocess.Popen([sys.executable, "-c", _SLOW, str(tmp_path)])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (not rows.exists() or rows.read_bytes().count(b"\n") < 4):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = set(Journal(tmp_path, identity).done)
    assert 4 <= len(finished) < 20
    subprocess.run([sys.executable, "-c", _SLOW, str(tmp_path)], check=True)
    asked = (tmp_path / "asked").read_text().split()
    assert all(asked.count(name) == 1 for name in finished)
    assert len(Journal(tmp_path, identity).done) == 20


async def test_a_journal_of_another_version_is_read_or_refused_cleanly(tmp_path: Path) -> None:
    journal = Journal(tmp_path, IDENTITY)
    await run_questions(echo, QUESTIONS[:1], journal=journal)
    row = json.loads(journal.path.read_text())
    assert not {"support", "guess"} & row.keys()  # as versions before verified citations wrote it
    assert not declined(Journal(tmp_path, IDENTITY).done["q0"])
    for broken in ({key: value for key, value in row.items() if key != "citations"}, ["q0"], 7, None):
        journal.path.write_text(json.dumps(broken) + "\n")
        with pytest.raises(ResourceError, match=r"line 1: not an outcome of a run; remove"):
            Journal(tmp_path, IDENTITY)
