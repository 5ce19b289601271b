"""The other commands: methods, draw, index build, eval; and what ends a command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest

from langgraph_evidence.cli import sources
from langgraph_evidence.cli.app import explain, run
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.methods import get_method, method_names
from langgraph_evidence.retrieval import index
from langgraph_evidence.retrieval.corpus import Unit
from langgraph_evidence.telling import clean, shorten, tell

if TYPE_CHECKING:
    from pathlib import Path

PARAGRAPHS = [
    ["Eiffel Tower", ["The Eiffel Tower was built by Gustave Eiffel.", "It is in Paris."]],
    ["Gustave Eiffel", ["Gustave Eiffel was born in Dijon."]],
    ["Zebra", ["A zebra has stripes."]],
]


def test_methods_lists_every_setting_with_its_value_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods"]) == 0
    out = capsys.readouterr().out
    assert "furepa: FuRePA" in out
    assert "  samples=5  candidate plans n an iteration\n      [integer from 1 to 64; section 4.1]" in out
    assert "  min_cluster=1  " in out
    assert "  seed=none  " in out
    assert "  assess=true  " in out


def test_methods_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == set(method_names())
    threshold = told["furepa"]["settings"]["threshold"]
    assert [threshold[key] for key in ("default", "minimum", "maximum")] == [0.6, 0.0, 1.0]


@pytest.mark.parametrize("name", method_names())
def test_every_method_is_drawn(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draw", name]) == 0
    drawing = capsys.readouterr().out
    assert drawing.split() == get_method(name).drawing().split()
    assert "graph TD;" in drawing


def test_an_unknown_method_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draw", "nonsense"]) == 2
    assert "Methods: furepa" in capsys.readouterr().err
    with pytest.raises(InvalidInput, match="Did you mean"):
        get_method("furrepa")


def test_an_index_is_built_and_searched_and_not_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"title": title, "text": " ".join(sentences)} for title, sentences in PARAGRAPHS]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    out = tmp_path / "index"
    assert run(["index", "build", str(corpus), "--out", str(out), "--unit", "sentence"]) == 0
    assert "4 passages indexed (bm25)" in capsys.readouterr().out
    assert index.open_index(out).invoke("zebra")[0].metadata["title"] == "Zebra"
    assert run(["index", "build", str(corpus), "--out", str(out)]) == 2
    assert "already" in capsys.readouterr().err


def test_an_index_is_built_in_the_language_of_its_passages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"title": "Zoo", "text": "Die Häuser der Zebras."}) + "\n", "utf-8")
    build = ["index", "build", str(corpus), "--out", str(tmp_path / "index"), "--language"]
    assert run([*build, "klingon"]) == 2
    assert "there are ar," in capsys.readouterr().err
    assert run([*build, "de"]) == 0
    assert index.open_index(tmp_path / "index").invoke("Haus")[0].metadata["title"] == "Zoo"


def test_eval_prints_a_table_and_goes_on_where_it_was(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    row = {
        "id": "q1",
        "question": "Where was Gustave Eiffel born?",
        "answer": "Dijon",
        "answer_aliases": [],
        "context": PARAGRAPHS,
        "gold_idx": [1],
        "supporting_facts": [["Gustave Eiffel", 0]],
        "type": "bridge",
        "fold": 7,
    }
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(row) + "\n", "utf-8")
    words = ["eval", "--data", str(data), "--fold", "7", "--runs", str(tmp_path / "runs"), "--set", "samples=1"]
    assert run(words) == 0
    first = capsys.readouterr().out
    assert "furepa: 1 of 1 questions" in first
    assert re.search(r"^\| furepa \|", first, re.MULTILINE)
    assert re.search(r"^\| one-shot, as many \|", first, re.MULTILINE)
    assert run([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"][0]["questions"] == 1
    assert run(words) == 0
    assert "furepa: 1 of 1 questions" not in capsys.readouterr().out


def test_eval_refuses_what_it_cannot_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["eval", "--data", str(tmp_path / "none.jsonl")]) == 1
    assert "no data file" in capsys.readouterr().err
    assert run(["eval"]) == 2
    assert "Missing option '--data'" in capsys.readouterr().err


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "--help"]) == 0
    assert "--thread" in capsys.readouterr().out


def test_an_unexpected_error_is_one_line_and_a_way_to_more() -> None:
    code, message = explain(KeyError("x"))
    assert code == 1
    assert message.splitlines() == ["Error: KeyError: 'x'", "Run the same command with --debug for the traceback."]
    assert explain(KeyboardInterrupt()) == (1, "Interrupted.")


def test_whoever_reads_may_leave() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from langgraph_evidence.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "methods"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


def test_the_words_of_the_command_line_are_those_of_the_rooms() -> None:
    assert get_args(sources.Kind) == get_args(index.Kind)
    assert get_args(sources.Unit) == get_args(Unit)


def test_an_event_without_a_teller_is_told_by_its_fields() -> None:
    (line,) = tell({"type": "new.event", "v": 1, "count": 3, "word": "yes"}, {})
    assert line.label == "event"
    assert line.text == "count=3, word=yes"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a�[2Jb"),
        ("one\n two\t", "one two"),
        ("left\u202eright", "left�right"),
        ("Zürich 東京", "Zürich 東京"),
    ],
)
def test_shown_text_has_no_control_characters(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_long_text_is_cut_at_a_word() -> None:
    assert shorten("one two three", 8) == "one two ..."
    assert shorten("one two", 8) == "one two"
