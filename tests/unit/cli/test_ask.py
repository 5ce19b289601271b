"""`evidence ask`: steps, results, exit codes, threads; the model is a scripted server on this machine."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from trusting import DoubtingVerifier

from langgraph_evidence import models
from langgraph_evidence.cli.app import run
from langgraph_evidence.llm.loopback import ScriptedServer, serve
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION = "Where was the builder of the Eiffel Tower born?"
RULES = [
    (r"born in Dijon", "[Analysis] Eiffel built it and was born in Dijon.\n[Answer] Dijon"),
    (r"Gustave Eiffel", "[Analysis] Eiffel built it.\n[Search] Where was Gustave Eiffel born?"),
    (r"Zebra", "[Search] zebra stripes"),
    (r"", "[Search] Who built the Eiffel Tower?"),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with serve(ScriptedChat(rules=RULES)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    rows = [
        {"id": "p1", "title": "Eiffel Tower", "text": "The Eiffel Tower was built by Gustave Eiffel in \x1b[31mParis."},
        {"id": "p2", "title": "Gustave Eiffel", "text": "Gustave Eiffel was born in Dijon."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def ask(server: ScriptedServer, corpus: Path) -> Any:
    def _ask(*words: str, question: str = QUESTION) -> int:
        options = ["--corpus", str(corpus), "--model", "openai:scripted", "--set", "samples=2"]
        return run(["ask", question, *options, *words])

    return _ask


def test_every_step_is_told_and_the_answer_cites_its_source(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask() == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = [line.split()[0] for line in lines]
    assert kinds.index("round") < kinds.index("decision") < kinds.index("query") < kinds.index("evidence")
    assert "Model: openai:scripted." in lines[1]
    assert "search     Who built the Eiffel Tower? (2 times)" in lines
    last = lines.index("Answer: Dijon (answered, support 1.00)")
    assert lines[last + 1] == "supported 1.00: Dijon"
    assert lines[last + 2] == '  [1] Gustave Eiffel (p2): "Gustave Eiffel was born in Dijon."'
    assert lines[-1].startswith("Usage: 6 model calls, ")


def test_retrieved_text_cannot_command_the_terminal(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ask()
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[31mParis" in out


def test_json_is_one_object_the_graphs_output(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("--json") == 0
    output = json.loads(capsys.readouterr().out)
    assert output["answer"] == "Dijon"
    assert {"answer", "citations", "evidence", "messages", "usage", "stopped", "plans"} <= set(output)
    assert output["citations"][0]["passage_id"] == "p2"
    assert output["messages"][0]["type"] == "ai"
    assert "question" not in output


def test_quiet_shows_the_result_alone(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("--quiet") == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0].strip("[]0123456789") for line in lines} == {"Answer:", "supported", "", "Usage:"}


def test_a_run_that_stops_without_an_answer_leaves_with_3(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("--max-calls", "1") == 3
    assert "Answer: (no answer) (budget)" in capsys.readouterr().out
    assert ask(question="Zebra?") == 3
    assert "(no_evidence)" in capsys.readouterr().out


def test_an_answer_without_support_is_declined_with_4_and_guessed_on_request(
    ask: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "default_verifier", DoubtingVerifier)
    assert ask("--quiet") == 4
    out = capsys.readouterr().out
    assert "Declined: no answer is given (unsupported)." in out
    assert "Guess, not to be trusted: Dijon (unsupported, support 0.25)" in out
    assert ask("--quiet", "--set", "if_unsupported=guess") == 4
    assert "Guess, as asked for: Dijon (unsupported, support 0.25)" in capsys.readouterr().out
    assert ask("--json") == 4
    output = json.loads(capsys.readouterr().out)
    assert (output["answer"], output["guess"]["answer"], output["stopped"]) == ("", "Dijon", "unsupported")
    assert ask("--quiet", "--set", "min_support=0.2") == 0
    assert "not supported 0.25: Dijon" in capsys.readouterr().out
    assert ask("--quiet", "--set", "citations=lexical") == 0
    assert "nothing checked them" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "furepo"], "There is no method 'furepo'. Did you mean 'furepa'?"),
        (["--set", "samples"], "key=value"),
        (["--set", "sample=3"], "Did you mean 'samples'?"),
        (["--set", "samples=many"], "'samples' was given 'many'; it takes int"),
        (["--max-calls", "0"], "'max_calls' was given 0"),
        (["--thread", "t"], "--thread and --db go together"),
        (["--index", "."], "--corpus or --index, not both"),
        (["--kind", "best"], "'best' is not one of"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_use_leaves_with_2_and_says_what_to_do(
    words: list[str], message: str, ask: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) <= 2


def test_an_empty_question_is_wrong_use(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(question="  ") == 2
    assert "The question is empty." in capsys.readouterr().err


def test_a_corpus_that_is_not_there_is_wrong_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["ask", "x", "--corpus", str(tmp_path / "none.jsonl")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_damaged_corpus_or_index_fails_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{", "utf-8")
    assert run(["ask", "x", "--corpus", str(broken)]) == 1
    assert "line 1" in capsys.readouterr().err
    assert run(["ask", "x", "--index", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.startswith("Error: ")
    assert len(told.splitlines()) <= 2


def test_a_refusing_endpoint_fails_with_1_and_names_it(
    ask: Any, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.chat.faults.extend(ScriptedChat(faults=[{"status": 401, "times": None}]).faults)
    assert ask("--quiet") == 1
    told = capsys.readouterr().err
    assert "401" in told
    assert len(told.splitlines()) <= 2


def test_debug_shows_the_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", " ", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err
    assert run(["ask", " "]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_finished_thread_answers_from_its_store(
    ask: Any, server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ["--thread", "t", "--db", str(tmp_path / "threads.sqlite")]
    assert ask(*kept) == 0
    first = capsys.readouterr().out
    calls = len(server.arrivals)
    assert ask(*kept) == 0
    again = capsys.readouterr().out
    assert len(server.arrivals) == calls
    assert "the stored answer, without new calls" in again
    assert again.splitlines()[-3:] == first.splitlines()[-3:]


def test_another_question_starts_afresh_on_the_same_thread(
    ask: Any, server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ["--thread", "t", "--db", str(tmp_path / "threads.sqlite"), "--json"]
    assert ask(*kept) == 0
    capsys.readouterr()
    assert ask(*kept, question="Zebra?") == 3
    output = json.loads(capsys.readouterr().out)
    assert output["evidence"] == []
    assert output["answer"] == ""


def test_a_run_that_failed_is_resumed_where_it_stopped(
    ask: Any, server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ["--thread", "t", "--db", str(tmp_path / "threads.sqlite")]
    faults = ScriptedChat(faults=[{"match": "by Gustave Eiffel", "status": 401, "times": None}]).faults
    server.chat.faults.extend(faults)
    assert ask(*kept) == 1
    assert len([arrival for arrival in server.arrivals if "by Gustave Eiffel" not in str(arrival["body"])]) == 2
    server.chat.faults.clear()
    before = len(server.arrivals)
    capsys.readouterr()
    assert ask(*kept) == 0
    assert "Resuming thread t at propose." in capsys.readouterr().out
    assert len(server.arrivals) - before == 4


def test_a_thread_keeps_to_its_method_and_a_db_has_to_be_one(
    ask: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is no database, not at all, whatever its name may say " * 20, "utf-8")
    assert ask("--thread", "t", "--db", str(broken)) == 1
    assert "cannot be used as a file of threads" in capsys.readouterr().err
    db = tmp_path / "threads.sqlite"
    assert ask("--thread", "t", "--db", str(db)) == 0
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE checkpoints SET metadata = replace(CAST(metadata AS TEXT), 'furepa', 'rebel')")
    connection.close()
    capsys.readouterr()
    assert ask("--thread", "t", "--db", str(db)) == 2
    assert "belongs to the method 'rebel'" in capsys.readouterr().err
