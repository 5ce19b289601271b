"""Writes the parts of the documentation that are made from the code; `--check` only compares (`make check`).

`--results DIR` writes the page of the trained heads instead, which takes the data and many minutes (`make results`).
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from typer.testing import CliRunner

from langgraph_evidence.cli import app
from langgraph_evidence.cli.methods import describe
from langgraph_evidence.events import VERSION
from langgraph_evidence.llm.events import SCHEMAS as MODEL_EVENTS
from langgraph_evidence.methods import get_method, method_names

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
MADE = "<!-- Made by docs/generate.py (make docs); do not edit. -->\n\n"
RESULTS = """<!-- Made by make results; do not edit. -->

# The trained heads beside their baselines

Fold 7, on which checkpoints and thresholds were chosen; one row a data set or system. Printed by

```text
evidence models eval --data DIR --markdown
```

on a folder laid out as the project's data. `_low` and `_high`, or `interval low` and `interval high`, are 95% bootstrap
bounds. Empty cells do not apply. SNLI's rows are its official development and test sets, used in training by fold: its
figures are no benchmark score.
"""
COMMANDS = (
    ["ask"],
    ["eval"],
    ["index", "build"],
    ["tools", "list"],
    ["tools", "check"],
    ["tools", "run"],
    ["methods"],
    ["draw"],
    ["models", "eval"],
    ["train"],
)


def pages() -> dict[str, str]:
    """Every generated page by its path from the root of the repository."""
    return {
        "docs/cli.md": MADE + cli_page(),
        "docs/methods.md": MADE + methods_page(),
        "docs/events.md": MADE + events_page(),
    }


def cli_page() -> str:
    """The help text of every command."""
    parts = ["# Command line\n"]
    for command in ([], *COMMANDS):
        title = " ".join(["evidence", *command])
        done = CliRunner().invoke(app, [*command, "--help"], prog_name="evidence", env={"COLUMNS": "100"})
        parts.append(f"## `{title}`\n\n```text\n{done.output.strip()}\n```\n")
    parts.append(
        "## Exit codes\n\n"
        "| code | meaning |\n| --: | --- |\n"
        "| 0 | answered; `own_knowledge` says that there was no evidence |\n"
        "| 1 | failed: a model, a file or the network |\n| 2 | wrong use |\n"
        "| 3 | stopped without an answer: the budget, no evidence, or no usable reply |\n"
        "| 4 | declined: the evidence does not support the answer; also where the guess was asked for |\n"
    )
    return "\n".join(parts)


def results_page(data: Path) -> str:
    """The tables of the trained heads as the command prints them."""
    done = CliRunner().invoke(app, ["models", "eval", "--data", str(data), "--markdown"], catch_exceptions=False)
    return RESULTS + done.stdout


def methods_page() -> str:
    """Every method's drawing and settings."""
    parts = ["# Methods\n"]
    for name in method_names():
        method = get_method(name)
        settings = "\n".join(list(describe(method))[1:])
        parts.append(
            f"## {name}\n\n{method.paper}\n\n```mermaid\n{method.drawing().strip()}\n```\n\n"
            f"Settings of `{method.settings.__name__}`, with the value, its type and where it comes from:\n\n"
            f"```text\n{settings}\n```\n"
        )
    return "\n".join(parts)


def events_page() -> str:
    """The schema of every event, and of the types in it."""
    head = (
        "# Events\n\n"
        'With `stream_mode="custom"` a run sends JSON objects, each with `type`, the version `v` '
        f"({VERSION}) of its schema, and the fields below. "
        "A field may be added within a version; a changed one makes a new one.\n"
    )
    parts = [head]
    seen: dict[str, Any] = {}
    for events in (MODEL_EVENTS, *(get_method(name).events for name in method_names())):
        for kind, schema in events.items():
            parts.append(f"## `{kind}`\n\n{told(schema)}\n\n{fields_table(schema, seen)}")
    parts.append("# Types in events\n")
    done: set[str] = set()
    while set(seen) - done:
        for name in sorted(set(seen) - done):
            done.add(name)
            parts.append(f"## {name}\n\n{told(seen[name])}\n\n{fields_table(seen[name], seen)}")
    return "\n".join(parts)


def told(schema: Any) -> str:
    """What a type's docstring says first, without the name it may begin with."""
    text = " ".join((inspect.getdoc(schema) or "").split("\n\n")[0].split())
    said = text.partition("`: ")[2] or text
    return said[:1].upper() + said[1:]


def fields_table(schema: Any, seen: dict[str, Any]) -> str:
    """A row a field; the types it names are added to `seen`."""
    rows = [f"| `{name}` | {word(hint, seen)} |" for name, hint in get_type_hints(schema, include_extras=True).items()]
    return "\n".join(["| field | type |", "| --- | --- |", *rows, ""])


def word(hint: Any, seen: dict[str, Any]) -> str:
    """A type in words."""
    if is_typeddict(hint) or hasattr(hint, "__total__"):
        seen[hint.__name__] = hint
        return str(hint.__name__)
    arguments = get_args(hint)
    if get_origin(hint) is NotRequired:
        return f"{word(arguments[0], seen)}, optional"
    if get_origin(hint) is list:
        return f"list of {word(arguments[0], seen)}"
    if get_origin(hint) is dict:
        return f"object of {word(arguments[1], seen)} by {word(arguments[0], seen)}"
    if arguments:
        return " or ".join(word(argument, seen) for argument in arguments)
    if isinstance(hint, str):
        return f'"{hint}"'
    return "null" if hint is type(None) else str(getattr(hint, "__name__", hint))


def stale() -> Iterator[str]:
    """The pages on disk that are not what the code makes."""
    for name, text in pages().items():
        path = ROOT / name
        if not path.exists() or path.read_text("utf-8") != text:
            yield name


def main() -> int:
    """Writes the pages, or with `--check` names those that are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="name stale pages and write nothing")
    parser.add_argument("--results", type=Path, metavar="DIR", help="write the trained heads' page from this data")
    options = parser.parse_args()
    if options.results:
        (ROOT / "docs" / "results.md").write_text(results_page(options.results), "utf-8")
        return 0
    if options.check:
        found = list(stale())
        sys.stderr.write("".join(f"{name} is stale: run make docs\n" for name in found))
        return 1 if found else 0
    for name, text in pages().items():
        (ROOT / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
