"""What a person sees: steps as they happen, then the answer. Coloured on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from langgraph_evidence.cli.result import result_lines
from langgraph_evidence.telling import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.progress import Progress
    from rich.table import Table

    from langgraph_evidence.telling import Line

_LABEL_WIDTH = 10


class Screen:
    """Writes to the standard output; silent, it writes results alone.

    Args:
        steps: Whether steps and notes are shown.
        console: Where it writes instead.
    """

    def __init__(self, *, steps: bool = True, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._steps = steps

    def lines(self, lines: Sequence[Line]) -> None:
        """Shows the lines of one step."""
        if self._steps:
            for line in lines:
                self._put(line)

    def note(self, text: str) -> None:
        """Shows a remark that belongs to no step."""
        if self._steps:
            self._console.print(Text(clean(text), style="dim"))

    def working(self, what: str) -> Any:
        """A context in which a terminal shows that work goes on."""
        return self._console.status(what) if self._steps and self._console.is_terminal else _Nothing()

    def bars(self) -> Progress | None:
        """Progress bars, on a terminal alone."""
        if not (self._steps and self._console.is_terminal):
            return None
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

        return Progress(
            *Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn(), console=self._console
        )

    def table(self, table: Callable[[], Table], markdown: Callable[[], str]) -> None:
        """Shows a table: drawn on a terminal, as markdown in a pipe."""
        if self._console.is_terminal:
            self._console.print(table())
        else:
            self.out(markdown())

    def result(self, output: Mapping[str, Any]) -> None:
        """Shows the answer with the proofs of each sentence, or that it was declined, and what the run cost."""
        for line in result_lines(output):
            self._console.print(line)

    def json(self, value: object) -> None:
        """Writes one JSON value."""
        self._console.out(json.dumps(value, ensure_ascii=False, default=_plain), highlight=False)

    def out(self, text: str) -> None:
        """Writes text as it is."""
        self._console.out(text, highlight=False)

    def _put(self, line: Line) -> None:
        label = f"{line.label:<{_LABEL_WIDTH}} "
        self._console.print(Text.assemble((label, "cyan"), (clean(line.text), line.style)))


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def _plain(value: Any) -> Any:
    """Messages as their fields; anything else in an output is a mistake and is told as one."""
    return value.model_dump(mode="json")
