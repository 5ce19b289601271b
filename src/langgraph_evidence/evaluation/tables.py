"""Tables as markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def markdown_table(header: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table as markdown, its first `left` columns set to the left, the others, numbers, to the right."""
    rule = ["---" if column < left else "--:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *lines))
