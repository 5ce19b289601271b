"""`evidence ask --method rebel`: tools of a folder, steps told, a tool in use when the thread broke off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_evidence.cli.app import run

TOOL = """
from pathlib import Path
from langchain_core.tools import StructuredTool

def order(drink: str) -> str:
    log = Path({log!r})
    log.write_text(log.read_text() + "used\\n" if log.exists() else "used\\n")
    if {breaks} and log.read_text().count("used") == 1:
        raise KeyboardInterrupt
    return "ordered " + drink

tool = StructuredTool.from_function(
    order, name="order", description="Orders drinks: Tea, Coffee.", metadata={{"idempotent": False}}
)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    path.write_text(json.dumps({"id": "p", "title": "Tea", "text": "Tea is a drink."}) + "\n", "utf-8")
    return path


def folder(tmp_path: Path, *, breaks: bool) -> tuple[Path, Path]:
    made = tmp_path / "tools"
    made.mkdir()
    log = tmp_path / "uses.log"
    (made / "order.py").write_text(TOOL.format(log=str(log), breaks=breaks), "utf-8")
    return made, log


def ask(corpus: Path, *words: str, question: str = "Who orders drinks, Tea?") -> int:
    return run(["ask", question, "--method", "rebel", "--corpus", str(corpus), *words])


def test_the_steps_are_told_and_the_calculator_is_at_hand(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(corpus, question="What is 2.5 * 4?") == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = [line.split()[0] for line in lines]
    assert kinds.index("recall") < kinds.index("tool") < kinds.index("reply") < kinds.index("fact")
    assert any(line.startswith("Answer: 10") for line in lines)


def test_a_tool_of_a_folder_is_a_tool_at_once(tmp_path: Path, corpus: Path, capsys: Any) -> None:
    tools, _ = folder(tmp_path, breaks=False)
    assert ask(corpus, "--tools", str(tools), "--json") == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["answer"], out["tree"]["0"]["tool"]) == ("ordered Tea", "order")


def test_a_method_without_tools_takes_none(tmp_path: Path, corpus: Path, capsys: Any) -> None:
    tools, _ = folder(tmp_path, breaks=False)
    assert run(["ask", "Who?", "--corpus", str(corpus), "--tools", str(tools)]) == 2
    assert "uses no tools" in capsys.readouterr().err


@pytest.mark.parametrize(("decision", "code", "uses"), [("repeat", 0, 2), ("skip", 3, 1)])
def test_a_use_that_broke_off_is_decided_by_the_user(
    decision: str, code: int, uses: int, tmp_path: Path, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools, log = folder(tmp_path, breaks=True)
    words = ["--tools", str(tools), "--thread", "t", "--db", str(tmp_path / "threads.sqlite")]
    assert ask(corpus, *words) == 130  # as a shell tells of Ctrl-C
    capsys.readouterr()
    assert ask(corpus, *words) == 2
    assert "--in-flight repeat" in capsys.readouterr().err
    assert log.read_text().count("used") == 1
    assert ask(corpus, *words, "--in-flight", decision) == code
    assert log.read_text().count("used") == uses
