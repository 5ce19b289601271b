"""What a terminal gets and a pipe does not: colours, bars, drawn tables."""

from __future__ import annotations

import pytest
from rich.table import Table

from langgraph_evidence.cli.result import usage_line
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.telling import Line
from langgraph_evidence.types import Usage


def table() -> Table:
    drawn = Table()
    drawn.add_column("metric")
    drawn.add_row("recall")
    return drawn


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_gets_colours_bars_and_drawn_tables(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.lines([Line("query", "who", "bold")])
    with screen.working("thinking"):
        pass
    screen.table(table, lambda: "| metric |")
    out = capsys.readouterr().out
    assert "\x1b[" in out
    assert "recall" in out
    assert "| metric |" not in out
    assert screen.bars() is not None
    assert Screen(steps=False).bars() is None


def test_a_pipe_gets_plain_lines_and_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.lines([Line("query", "who", "bold")])
    with screen.working("thinking"):
        pass
    screen.table(table, lambda: "| metric |")
    assert capsys.readouterr().out == "query      who\n| metric |\n"
    assert screen.bars() is None


def test_without_steps_only_results_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(steps=False)
    screen.lines([Line("query", "who")])
    screen.note("a remark")
    assert capsys.readouterr().out == ""


def test_a_line_is_not_broken_however_long(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().note("word " * 100)
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_usage_names_cached_calls_where_there_are_some() -> None:
    usage = Usage(calls=5, cached_calls=0, input_tokens=1200, output_tokens=30, seconds=1.26)
    assert usage_line(usage) == "Usage: 5 model calls, 1,200 tokens in, 30 out, 1.3 s"
    assert "5 model calls (2 cached)," in usage_line(Usage(**{**usage, "cached_calls": 2}))
