"""The commands of `evidence`, and how an error leaves it: one or two lines on the error stream and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated

import typer

from langgraph_evidence.cli import ask, evaluate, index, methods, models, records, tools
from langgraph_evidence.errors import EvidenceError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 1
WRONG_USE = 2

app = typer.Typer(
    name="evidence",
    help="Answers questions from evidence by published methods, step by step, with citations.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("ask", epilog=ask.EXIT_CODES)(ask.ask)
app.command("methods")(methods.methods)
app.command("draw")(methods.draw)
app.command("eval")(evaluate.evaluate)
app.command("train")(models.train)
app.command("records")(records.records)
app.add_typer(index.app, name="index")
app.add_typer(models.app, name="models")
app.add_typer(tools.app, name="tools")


@app.callback()
def options(
    *, debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error. Allowed anywhere.")] = False
) -> None:
    """Answers questions from evidence by published methods, step by step, with citations."""


def main() -> None:
    """Runs the command line of this process and leaves with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line.

    Returns:
        0 answered, 1 failed, 2 wrong use, 3 stopped without an answer, 4 declined for want of support.
    """
    words = [word for word in arguments if word != "--debug"]
    try:
        return int(app(words, prog_name="evidence", standalone_mode=False) or 0)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the one place where every error ends
        if len(words) != len(arguments):
            traceback.print_exc()
        code, message = explain(error)
        sys.stderr.write(f"{message}\n")
        return code


def explain(error: BaseException) -> tuple[int, str]:
    """The exit code of an error and the one or two lines that tell it."""
    if isinstance(error, InvalidInput):
        return WRONG_USE, f"Error: {_line(str(error))}"
    if isinstance(error, EvidenceError):
        return FAILED, f"Error: {_line(str(error))}"
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return FAILED, "Interrupted."
    # Typer carries a click of its own, whose classes have no public name: they are known by what they can do.
    tell = getattr(error, "format_message", None)
    if callable(tell):
        return int(getattr(error, "exit_code", FAILED)), _wrong_use(error, str(tell()))
    told = f"{type(error).__name__}: {_line(str(error))}" if str(error) else type(error).__name__
    return FAILED, f"Error: {told}\nRun the same command with --debug for the traceback."


def _wrong_use(error: BaseException, message: str) -> str:
    if type(error).__name__ == "NoArgsIsHelpError":
        return message
    command = getattr(getattr(error, "ctx", None), "command_path", "evidence")
    return f"Error: {_line(message)}\nSee: {command} --help"


def _line(text: str) -> str:
    return " ".join(text.split())
