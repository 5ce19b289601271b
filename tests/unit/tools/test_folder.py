"""A folder of tools: a dropped file is a tool at once, and what is wrong is told file by file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from langchain_core.tools import BaseTool

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.tools import check_folder, load_tools

if TYPE_CHECKING:
    from pathlib import Path

TOML = 'description = "A {name}."\nmethod = "GET"\nurl = "https://example.com/{name}"\n'
PYTHON = """
from langchain_core.tools import tool as as_tool

@as_tool
def {name}(text: str) -> str:
    "Does something."
    return text

{line}
"""


def drop(folder: Path, name: str, text: str = TOML) -> None:
    (folder / f"{name}.toml").write_text(text.replace("{name}", name), "utf-8")


def names(tools: list[BaseTool]) -> list[str]:
    return [tool.name for tool in tools]


def test_a_dropped_file_is_a_tool_at_once(tmp_path: Path) -> None:
    assert load_tools(tmp_path, environment={}) == []
    drop(tmp_path, "weather")
    assert names(load_tools(tmp_path, environment={})) == ["weather"]
    drop(tmp_path, "maps")
    drop(tmp_path, "_draft", "not TOML")
    (tmp_path / "notes.txt").write_text("not a tool")
    (tmp_path / "more").mkdir()
    drop(tmp_path / "more", "deeper")
    assert names(load_tools(tmp_path, environment={})) == ["maps", "weather"]


def test_python_is_run_only_when_asked_for(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = PYTHON.replace("{name}", "shout").replace("{line}", f"tool = shout; open({str(mark)!r}, 'w').close()")
    (tmp_path / "shout.py").write_text(text, "utf-8")
    assert load_tools(tmp_path, environment={}) == []
    assert not mark.exists()
    assert names(load_tools(tmp_path, environment={}, run_python=True)) == ["shout"]
    assert mark.exists()


def test_python_without_a_tool_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("raise SystemExit\n", "utf-8")
    (report,) = check_folder(tmp_path, environment={}, run_python=True)
    assert (report.tools, report.problem) == ((), "")


def test_python_may_hold_several(tmp_path: Path) -> None:
    text = PYTHON.replace("{name}", "shout").replace(
        "{line}", "tools = [shout, shout.model_copy(update={'name': 'b'})]"
    )
    (tmp_path / "many.py").write_text(text, "utf-8")
    assert names(load_tools(tmp_path, environment={}, run_python=True)) == ["shout", "b"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("tool = (", 1, "SyntaxError"),
        ("x = 1\n\ntool = 1 / 0\n", 3, "ZeroDivisionError"),
        ("tool = 3\n", 1, "not int"),
        ("tools = 3\n", 1, "not int"),
        ("tools = [None]\n", 1, "not NoneType"),
        ("tool = '\0'\n", 1, "null|source code"),
    ],
)
def test_bad_python_is_refused_with_its_line(text: str, line: int, reason: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(text, "utf-8")
    with pytest.raises(ResourceError, match=reason) as caught:
        load_tools(tmp_path, environment={}, run_python=True)
    assert f"bad.py:{line}: " in str(caught.value)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    drop(tmp_path, "good")
    drop(tmp_path, "one", "method = GET")
    drop(tmp_path, "two", TOML.replace("https", "ftp"))
    (tmp_path / "good2.py").write_text(PYTHON.replace("{name}", "good").replace("{line}", "tool = good"), "utf-8")
    with pytest.raises(ResourceError) as caught:
        load_tools(tmp_path, environment={}, run_python=True)
    problems = str(caught.value).splitlines()
    assert len(problems) == 3
    assert "there is a tool 'good' already, in good.toml" in problems[0]
    assert "one.toml:1:" in problems[1]
    assert "two.toml:3:" in problems[2]
    assert [bool(report.problem) for report in check_folder(tmp_path, environment={})] == [False, True, True]


def test_a_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder of tools"):
        load_tools(tmp_path / "absent", environment={})
    drop(tmp_path, "weather")
    with pytest.raises(InvalidInput, match="host or network"):
        load_tools(tmp_path, environment={}, allow=["http://inside"])
