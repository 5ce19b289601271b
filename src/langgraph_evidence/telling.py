"""How a run's events are told on a terminal: lines of plain text, whatever was retrieved or generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

EXCERPT = 160
"""Letters of a passage or a reply that are shown."""


class Line(NamedTuple):
    """One line of a step: a short label, what there is to say, and how it is set off on a terminal."""

    label: str
    text: str
    style: str = ""


Teller = Callable[[Mapping[str, Any]], list[Line]]
"""Tells one kind of event."""


def clean(text: str) -> str:
    """The text on one line without control characters: what was retrieved or generated must not command a terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(text.split()))


def shorten(text: str, letters: int = EXCERPT) -> str:
    """At most so many letters of a text, cut at a word where there is one."""
    flat = clean(text)
    if len(flat) <= letters:
        return flat
    return flat[:letters].rsplit(" ", 1)[0] + " ..."


def tell(event: Mapping[str, Any], tellers: Mapping[str, Teller]) -> list[Line]:
    """The lines of an event; one that nobody tells, as another version or a tool may send it, is told by its fields."""
    teller = tellers.get(str(event.get("type")))
    return _fields(event) if teller is None else teller(event)


def _fields(event: Mapping[str, Any]) -> list[Line]:
    shown = ", ".join(f"{name}={value}" for name, value in event.items() if name not in {"type", "v"})
    return [Line(str(event.get("type", "event")).rpartition(".")[2], shorten(shown))]


def not_told(_event: Mapping[str, Any]) -> list[Line]:
    """Tells nothing: the answer is shown with its citations when the run has ended."""
    return []
