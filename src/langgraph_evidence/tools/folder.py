"""A folder of tools: every TOML file is one, every Python file that defines `tool` or `tools` holds some."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool

from langgraph_evidence.errors import InvalidInput, MissingExtra, ResourceError
from langgraph_evidence.tools.declarative import MAX_BYTES, read_tool_file
from langgraph_evidence.tools.http_tool import http_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_NAMES = {"tool", "tools"}


@dataclass(frozen=True)
class FileReport:
    """What became of one file: the tools in it, the environment variables they need, why it has none, or is refused."""

    path: Path
    tools: tuple[BaseTool, ...] = ()
    secrets: tuple[str, ...] = ()
    skipped: str = ""
    problem: str = ""


def load_tools(
    folder: Path, *, environment: Mapping[str, str], allow: Iterable[str] = (), run_python: bool = False
) -> list[BaseTool]:
    """Loads every tool of a folder, in the order of the files' names.

    Args:
        folder: The folder; its subfolders, and files whose names begin with `_` or `.`, are left alone.
        environment: Where declarative tools look their secrets up.
        allow: Hosts and networks inside that declarative tools may reach (`AllowList`).
        run_python: Whether Python files are loaded too, which runs them: for a folder that is yours.

    Raises:
        InvalidInput: There is no such folder, or an entry of `allow` is malformed.
        ResourceError: A file is refused, or two tools have one name; the message tells all that is wrong.
    """
    reports = check_folder(folder, environment=environment, allow=allow, run_python=run_python)
    problems = [report.problem for report in reports if report.problem]
    if problems:
        raise ResourceError("\n".join(problems))
    return [tool for report in reports for tool in report.tools]


def check_folder(
    folder: Path, *, environment: Mapping[str, str], allow: Iterable[str] = (), run_python: bool = False
) -> list[FileReport]:
    """What became of every file of a folder; the arguments are those of `load_tools`.

    Raises:
        InvalidInput: There is no such folder, or an entry of `allow` is malformed.
    """
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder of tools {str(folder)!r}.")
    entries = tuple(allow)
    kinds = {".toml", ".py"} if run_python else {".toml"}
    reports: list[FileReport] = []
    seen: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in kinds or path.name[0] in "._" or not path.is_file():
            continue
        try:
            report = _toml(path, environment, entries) if path.suffix == ".toml" else _python(path)
            _check_names(report, seen)
        except ResourceError as error:
            report = FileReport(path, problem=str(error))
        reports.append(report)
    return reports


def _check_names(report: FileReport, seen: dict[str, Path]) -> None:
    for tool in report.tools:
        first = seen.setdefault(tool.name, report.path)
        if first != report.path:
            raise ResourceError(f"{report.path}:1: there is a tool {tool.name!r} already, in {first.name}.")


def _toml(path: Path, environment: Mapping[str, str], allow: tuple[str, ...]) -> FileReport:
    spec = read_tool_file(path)
    return FileReport(path, (http_tool(spec, environment=environment, allow=allow),), tuple(spec.secrets))


def _python(path: Path) -> FileReport:
    """The tools of a Python file; one that defines none is not run, and one whose extra is not installed has none.

    Raises:
        ResourceError: It is no Python, it fails, or what it calls a tool is none.
    """
    if not _defines_tools(path):
        return FileReport(path, skipped="defines neither `tool` nor `tools`, so it is no tool and was not run")
    spec = importlib.util.spec_from_file_location(f"evidence_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ResourceError(f"{path}:1: is not a module that Python can load.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except MissingExtra as error:
        return FileReport(path, skipped=str(error))
    except Exception as error:
        raise ResourceError(f"{path}:{_line_in(path, error)}: {type(error).__name__}: {error}") from error
    return FileReport(path, tuple(_tools_of(path, module)))


def _defines_tools(path: Path) -> bool:
    try:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise ResourceError(f"{path}:1: the file has more than {MAX_BYTES:,} bytes.")
        tree = ast.parse(data)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ResourceError(f"{path}:{getattr(error, 'lineno', None) or 1}: {type(error).__name__}: {error}") from error
    return any(name in _NAMES for statement in tree.body for name in _names(statement))


def _names(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _line_in(path: Path, error: BaseException) -> int:
    """The last line of the file that was being run when it failed."""
    line, place = 1, error.__traceback__
    while place is not None:
        if place.tb_frame.f_code.co_filename == str(path):
            line = place.tb_lineno
        place = place.tb_next
    return line


def _tools_of(path: Path, module: Any) -> list[BaseTool]:
    several = getattr(module, "tools", ())
    found = [*(several if isinstance(several, list | tuple) else [several])]
    found += [module.tool] if hasattr(module, "tool") else []
    for tool in found:
        if not isinstance(tool, BaseTool):
            raise ResourceError(f"{path}:1: `tool` and `tools` hold LangChain tools, not {type(tool).__name__}.")
    return found
