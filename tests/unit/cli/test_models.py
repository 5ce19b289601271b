"""`evidence models eval` and `evidence train`: names, folds, tables, and what they refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from langgraph_evidence.cli.app import run
from langgraph_evidence.training import heads
from langgraph_evidence.training.base.options import Progress, TrainResult

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


@pytest.fixture
def one_head(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A registry of one head that records what it is asked."""
    asked: list[object] = []

    def measure(data: Path, folds: Collection[int]) -> list[heads.TableRow]:
        asked.append((data, frozenset(folds)))
        return [{"row": "trained", "f1": 0.75}, {"row": "baseline", "f1": 0.5, "n": 3}]

    def train(data: Path, out: Path, encoder: object, **how: object) -> TrainResult:
        asked.append((data, out, how["resume"]))
        how["report"](50, 100, 0.25)  # type: ignore[operator]  # the command gives a function
        return TrainResult({"f1": 0.75}, Progress())

    monkeypatch.setattr(heads, "HEADS", {"scorer": heads.Head("what it is for", train, measure)})
    return asked


def test_the_table_has_a_line_a_row_and_every_column(
    one_head: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["models", "eval", "--data", str(tmp_path), "--fold", "any"]) == 0
    out = capsys.readouterr().out
    assert "scorer: what it is for" in out
    assert "| row | f1 | n |" in out
    assert "| baseline | 0.500 | 3 |" in out
    assert one_head == [(tmp_path, frozenset(range(10)))]


def test_json_is_one_object(one_head: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "eval", "scorer", "--data", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["heads"]["scorer"][0] == {"row": "trained", "f1": 0.75}
    assert one_head == [(tmp_path, frozenset({7}))]


def test_markdown_is_the_sections_alone(
    one_head: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["models", "eval", "--data", str(tmp_path), "--markdown"]) == 0
    assert capsys.readouterr().out == (
        "\n## scorer\n\nWhat it is for.\n\n"
        "| row | f1 | n |\n| --- | --- | --- |\n| trained | 0.750 |  |\n| baseline | 0.500 | 3 |\n"
    )
    assert one_head == [(tmp_path, frozenset({7}))]


def test_training_tells_its_steps_and_its_figures(
    one_head: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "scorer", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--resume"]) == 0
    out = capsys.readouterr().out
    assert "step 50 of 100, loss 0.2500" in out
    assert '"f1": 0.75' in out
    assert one_head == [(tmp_path, tmp_path / "out", True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["models", "eval", "nothing"], "There is no head 'nothing'. Heads: "),
        (["models", "eval", "--json", "--markdown"], "--json and --markdown were both given"),
        (["models", "eval", "--fold", "12"], "--fold was given '12'; it takes 0 to 9, or 'any'."),
        (["train", "nothing"], "There is no head 'nothing'."),
    ],
)
def test_what_is_not_there_is_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--data", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_an_empty_data_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "eval", "sentence_ranker", "--data", str(tmp_path)]) == 1
    assert "lacks" in capsys.readouterr().err


def test_rows_are_flattened() -> None:
    row = {"source": "a", "auroc": 0.9, "interval": [0.8, 1.0], "baselines": {"cosine": {"auroc": 0.5}}}
    assert heads.flat(row) == {
        "source": "a",
        "auroc": 0.9,
        "interval low": 0.8,
        "interval high": 1.0,
        "baselines cosine auroc": 0.5,
    }
