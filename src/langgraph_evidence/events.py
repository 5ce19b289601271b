"""Custom stream events: plain JSON objects `{"type": "<method>.<event>", "v": 1, ...}` with a documented schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph.config import get_stream_writer

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1


def emit(kind: str, data: Mapping[str, Any]) -> None:
    """Sends one event to whoever streams the run with `stream_mode="custom"`; outside a graph it does nothing.

    Args:
        kind: `<method>.<event>`, e.g. `furepa.query`.
        data: JSON values; the schema of each event is kept beside the method that sends it.
    """
    try:
        writer = get_stream_writer()
    except (RuntimeError, KeyError):
        return
    writer({"type": kind, "v": VERSION, **data})
