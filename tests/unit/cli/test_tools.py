"""`evidence tools`: listing, checking and using tools, and giving them to a method."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_service import Answer, serving

from langgraph_evidence.cli.app import run

ROOT = Path(__file__).parents[3]
TOML = 'description = "Tells the weather."\nmethod = "GET"\nurl = "{url}"\n[dynamic_params]\ncity = "A city"\n'


def drop(folder: Path, name: str, url: str = "https://example.com/", more: str = "") -> None:
    (folder / f"{name}.toml").write_text(TOML.replace("{url}", url) + more, "utf-8")


def test_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop(tmp_path, "weather")
    assert run(["tools", "list", "--tools", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "calculator: Works out arithmetic" in out
    assert "weather: Tells the weather.\n  city  A city [string]" in out
    assert run(["tools", "list", "--tools", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weather"]["parameters"]["required"] == ["city"]


def test_check_tells_every_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEATHER_KEY", raising=False)
    drop(tmp_path, "good", more='[static_params]\nkey = { env = "WEATHER_KEY" }\n')
    drop(tmp_path, "bad", url="ftp://example.com/")
    assert run(["tools", "check", str(tmp_path)]) == 1
    bad, good = capsys.readouterr().out.splitlines()
    assert bad.startswith(f"{tmp_path / 'bad.toml'}:3: url is refused")
    assert good == f"{tmp_path / 'good.toml'}: good (not set in the environment: WEATHER_KEY)"
    (tmp_path / "bad.toml").unlink()
    assert run(["tools", "check", str(tmp_path)]) == 0


def test_run_uses_a_tool_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda arrival: Answer(json.dumps(arrival.path).encode())) as service:
        drop(tmp_path, "weather", service.url)
        command = ["tools", "run", "weather", "city=New York", "--tools", str(tmp_path)]
        assert run(command) == 1
        assert "127.0.0.1 is refused" in capsys.readouterr().err
        assert run([*command, "--allow", "127.0.0.1"]) == 0
    assert capsys.readouterr().out == '"/?city=New%20York"\n'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["calculator", "expression=1/0"], "divides by zero"),
        (["calculator", "sum=1"], "no parameter 'sum'"),
        (["calculator", "1+1"], "key=value"),
        (["weather"], "no tool 'weather'. Tools: calculator"),
        (["calculator", "--tools", "absent"], "no folder of tools"),
    ],
)
def test_wrong_use_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "run", *words]) == 2
    assert told in capsys.readouterr().err


def test_two_folders_may_not_share_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        drop(tmp_path / folder, "weather")
    assert run(["tools", "list", "--tools", str(tmp_path / "a"), "--tools", str(tmp_path / "b")]) == 2
    assert "Two folders have a tool 'weather'" in capsys.readouterr().err


def test_the_shipped_folder_is_good(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVIDENCE_CORPUS", raising=False)
    assert run(["tools", "check", str(ROOT / "tools")]) == 0
    out = capsys.readouterr().out
    for name in ("calculator", "maps", "places", "search_passages", "weather"):
        assert f": {name}" in out


def test_a_dropped_file_is_given_to_rebel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop(tmp_path, "broken", url="ftp://example.com/")
    assert run(["ask", "How warm is Rome?", "--method", "rebel", "--tools", str(tmp_path)]) == 1
    assert "broken.toml:3: url is refused" in capsys.readouterr().err
