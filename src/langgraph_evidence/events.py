"""Custom stream events: plain JSON objects `{"type": "<method>.<event>", "v": 2, ...}` with a documented schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from langgraph.config import get_stream_writer

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 2

P = TypeVar("P")


@dataclass(frozen=True)
class Event(Generic[P]):
    """One kind of event; called with its payload, it is sent.

    Args:
        kind: `<method>.<event>`.
        schema: The TypedDict of its payload; `docs/events.md` is generated from it.
    """

    kind: str
    schema: type[P]

    def __call__(self, payload: P) -> None:
        """Sends the event."""
        emit(self.kind, cast("Mapping[str, Any]", payload))


def schemas(*events: Event[Any]) -> dict[str, type]:
    """The payload of every event by its kind, beside `type` and `v`."""
    return {event.kind: event.schema for event in events}


def emit(kind: str, data: Mapping[str, Any]) -> None:
    """Sends one event to whoever streams the run with `stream_mode="custom"`; outside a graph it does nothing.

    Args:
        kind: `<method>.<event>`.
        data: JSON values; the schema of each event is kept beside the method that sends it.
    """
    try:
        writer = get_stream_writer()
    except (RuntimeError, KeyError):
        return
    writer({"type": kind, "v": VERSION, **data})
