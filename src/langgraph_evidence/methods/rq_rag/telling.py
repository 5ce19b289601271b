"""How RQ-RAG's events are told on a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from langgraph_evidence.methods.rq_rag import events
from langgraph_evidence.telling import Line, not_told, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.telling import Teller

    Told = Mapping[str, Any]


def _actions(event: Told) -> list[Line]:
    named = [_likely(row["action"], row["logprob"]) for row in event["proposals"]]
    return [Line(f"path {event['path']}", ", ".join(named) or "no usable choice: it answers", "bold")]


def _likely(action: str, logprob: float | None) -> str:
    return action if logprob is None else f"{action} {math.exp(logprob):.2f}"


def _query(event: Told) -> list[Line]:
    said = shorten(event["query"]) if event["query"] else f"no query: {shorten(event['why'])}"
    return [Line(event["action"], f"{said} [path {event['path']}]")]


def _evidence(event: Told) -> list[Line]:
    found = [f"{passage['title']}: {shorten(passage['text'])} [{passage['id']}]" for passage in event["passages"]]
    return [Line("evidence", row, "green") for row in found or ["nothing new"]]


def _trajectory(event: Told) -> list[Line]:
    said = shorten(event["answer"]) if event["answer"] else f"none ({event['failure']}): {shorten(event['why'])}"
    return [Line("answer", f"{said} [path {event['path']}]")]


def _selection(event: Told) -> list[Line]:
    rows = [(name, row) for name, row in event["selections"].items() if not row["unavailable"]]
    return [
        Line(name, f"{shorten(row['answer'])} ({row['score']:.3g})", "bold" if name == event["selected_by"] else "dim")
        for name, row in rows
    ]


def _doubt(event: Told) -> list[Line]:
    instead = f"; instead {shorten(event['instead'])}" if event["instead"] else ""
    return [Line("doubt", f"{shorten(event['answer'])}: {event['why']}{instead}", "yellow")]


TELLERS: dict[str, Teller] = {
    events.actions.kind: _actions,
    events.query.kind: _query,
    events.evidence.kind: _evidence,
    events.trajectory.kind: _trajectory,
    events.selection.kind: _selection,
    events.doubt.kind: _doubt,
    events.answer.kind: not_told,
}
"""One entry an event."""
