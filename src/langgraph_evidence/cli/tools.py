"""`evidence tools`: what a folder of tools offers, what is wrong with it, and a tool used by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.telling import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.tools import BaseTool

    from langgraph_evidence.tools.folder import FileReport

FAILED = 1
ToolsOption = Annotated[
    list[Path] | None,
    typer.Option("--tools", metavar="DIR", help="A folder of tools; its Python files are run. May be repeated."),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="A host or network inside that tools may reach. May be repeated."),
]

app = typer.Typer(help="Shows, checks and uses tools.", rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Shows, checks and uses tools."""


@app.command("list")
def list_tools(
    *,
    tools: ToolsOption = None,
    allow: AllowOption = None,
    json: Annotated[bool, typer.Option("--json", help="Write them as one JSON object.")] = False,
) -> int:
    """Lists the tools with what they do and what they take: the calculator, and those of the folders."""
    screen = Screen()
    found = open_tools(tools, allow)
    if json:
        screen.json({tool.name: {"description": tool.description, "parameters": _schema(tool)} for tool in found})
        return 0
    for tool in found:
        screen.out("\n".join(_describe(tool)))
    return 0


@app.command("check")
def check(folders: Annotated[list[Path], typer.Argument(help="Folders of tools; their Python files are run.")]) -> int:
    """Tells of every file of a folder which tools it holds, or the line and the reason why it is refused."""
    from langgraph_evidence.tools import check_folder

    screen = Screen()
    reports = [
        report for folder in folders for report in check_folder(folder, environment=_environment(), run_python=True)
    ]
    for report in reports:
        screen.out(clean(_verdict(report)))
    return FAILED if any(report.problem for report in reports) else 0


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="What it is given.")] = None,
    *,
    tools: ToolsOption = None,
    allow: AllowOption = None,
) -> int:
    """Uses a tool once, as a model would, and writes what the model would see."""
    found = {tool.name: tool for tool in open_tools(tools, allow)}
    if name not in found:
        raise InvalidInput(f"There is no tool {name!r}. Tools: {', '.join(found)}.")
    given = dict(_assignment(word, found[name]) for word in arguments or [])
    message = found[name].invoke({"type": "tool_call", "id": name, "name": name, "args": given})
    if message.status == "error":
        raise InvalidInput(str(message.text))
    Screen().out(str(message.text))
    return 0


def open_tools(folders: list[Path] | None, allow: list[str] | None) -> list[BaseTool]:
    """The tools of a command: the calculator, and those of the folders that it was given.

    Raises:
        InvalidInput: A folder does not exist, or two tools have one name.
        ResourceError: A file is refused.
    """
    from langgraph_evidence.tools import calculator_tool, load_tools

    found = {"calculator": calculator_tool()}
    for folder in folders or []:
        for tool in load_tools(folder, environment=_environment(), allow=allow or (), run_python=True):
            if tool.name in found and tool.name != "calculator":
                raise InvalidInput(f"Two folders have a tool {tool.name!r}; rename one of its files.")
            found[tool.name] = tool
    return list(found.values())


def _environment() -> Mapping[str, str]:
    return os.environ


def _schema(tool: BaseTool) -> dict[str, Any]:
    schema: Any = tool.tool_call_schema
    return dict(schema) if isinstance(schema, dict) else dict(schema.model_json_schema())


def _describe(tool: BaseTool) -> list[str]:
    schema = _schema(tool)
    required = schema.get("required", [])
    lines = [f"{tool.name}: {clean(tool.description)}"]
    for name, row in schema.get("properties", {}).items():
        kind = f"{row.get('type', 'any')}{'' if name in required else ', optional'}"
        lines.append(f"  {name}  {clean(str(row.get('description', '')))} [{kind}]")
    return lines


def _verdict(report: FileReport) -> str:
    if report.problem:
        return report.problem
    names = report.skipped or ", ".join(tool.name for tool in report.tools)
    unset = [name for name in report.secrets if not _environment().get(name)]
    return f"{report.path}: {names}" + (f" (not set in the environment: {', '.join(unset)})" if unset else "")


def _assignment(word: str, tool: BaseTool) -> tuple[str, Any]:
    """An argument; one whose declared type is not a text is read as JSON where it can be."""
    import json

    name, separator, value = word.partition("=")
    if not separator:
        raise InvalidInput(f"An argument is given as key=value, not as {word!r}.")
    if _schema(tool).get("properties", {}).get(name, {}).get("type", "string") == "string":
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
