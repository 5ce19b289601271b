"""`evidence models eval` and `evidence train`: names, folds, tables, and what they refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from rq_rag_data import written

from langgraph_evidence.cli.app import run
from langgraph_evidence.training import heads, language_models
from langgraph_evidence.training.base.options import Progress, TrainResult

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


RECORDS = language_models.Records(lambda *_: {}, lambda *_: {})


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


def test_a_language_model_is_trained_with_options_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def learn(data: Path, out: Path, **how: object) -> TrainResult:
        how.pop("report")
        asked.append((data, out, how))
        return TrainResult({"loss": 0.5}, Progress())

    monkeypatch.setattr(
        language_models, "LANGUAGE_MODELS", {"writer": language_models.LanguageModel("writes", learn, RECORDS)}
    )
    words = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--base", "tiny", "--set", "rank=8"]
    assert run(["train", "writer", *words, "--device", "cpu", "--resume"]) == 0
    how = {"device": "cpu", "resume": True, "base": "tiny", "given": {"rank": "8"}}
    assert asked == [(tmp_path, tmp_path / "out", how)]
    assert json.loads(capsys.readouterr().out)["weights"] == str(tmp_path / "out/writer")


def test_records_are_made_of_a_data_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data", str(written(tmp_path / "data")), "--out", str(tmp_path / "r.jsonl")]
    assert run(["records", "rq_rag", *words, "--set", "datasets=ARC", "--set", "form=one_shot"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == {"ARC": {"made": 1}}
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1


def test_records_are_made_by_an_annotator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data", str(written(tmp_path / "data")), "--out", str(tmp_path / "out"), "--annotator", "offline"]
    assert run(["records", "rq_rag", *words, "--set", "datasets=MuSiQue", "--set", "concurrency=2"]) == 0
    assert "row 2 of 2" in capsys.readouterr().out
    assert (tmp_path / "out/records.jsonl").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["train", "scorer", "--base", "x"],
            "'scorer' takes no --base, --records or --set; language models do:",
        ),
        (["train", "rq_rag", "--set", "rank"], "An option is given as key=value, not as 'rank'."),
        (["records", "title", "--out", "x"], "There are no records for 'title'; there are for: rq_rag."),
        (["records", "rq_rag", "--out", "x", "--set", "rank=8"], "There is no option 'rank'."),
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
