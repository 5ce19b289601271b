"""What a person sees: steps as they happen, then the answer. Coloured on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from langgraph_evidence.telling import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.progress import Progress
    from rich.table import Table

    from langgraph_evidence.telling import Line
    from langgraph_evidence.types import Citation, Usage


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
        """Shows the answer, its citations with the quoted source text, and what the run cost."""
        answer = clean(output["answer"]) or "(no answer)"
        self._console.print(Text.assemble(("Answer: ", "bold"), (answer, "bold green"), f" ({output['stopped']})"))
        for number, citation in enumerate(output["citations"], start=1):
            self._console.print(Text(citation_line(number, citation)))
        self._console.print(Text(usage_line(output["usage"]), style="dim"))

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


def citation_line(number: int, citation: Citation) -> str:
    """`[1] Title (id): "quote"`."""
    return f'[{number}] {clean(citation["title"])} ({clean(citation["passage_id"])}): "{clean(citation["quote"])}"'


def usage_line(usage: Usage) -> str:
    """Calls, tokens and seconds of a run in a line."""
    cached = f" ({usage['cached_calls']} cached)" if usage["cached_calls"] else ""
    tokens = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out"
    return f"Usage: {usage['calls']} model calls{cached}, {tokens}, {usage['seconds']:.1f} s"


def _plain(value: Any) -> Any:
    """Messages as their fields; anything else in an output is a mistake and is told as one."""
    return value.model_dump(mode="json")
