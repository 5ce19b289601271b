"""How REBEL's events are told on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.methods.rebel import events
from langgraph_evidence.telling import Line, not_told, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.telling import Teller

    Told = Mapping[str, Any]


def _split(event: Told) -> list[Line]:
    if not event["subquestions"]:
        return []
    parts = [Line("  part", text, "bold") for text in event["subquestions"].values()]
    dropped = [Line("  dropped", text, "dim") for text in event["dropped"]]
    return [Line("split", event["question"]), *parts, *dropped]


def _recall(event: Told) -> list[Line]:
    said = "known" if event["known"] else "not known"
    return [Line("recall", f"{event['question']} {said} ({event['facts']} facts)")]


def _call(event: Told) -> list[Line]:
    arguments = ", ".join(f"{name}={value!r}" for name, value in event["arguments"].items())
    return [Line("tool", shorten(f"{event['tool']}({arguments})"), "bold")]


def _reply(event: Told) -> list[Line]:
    if event["error"]:
        return [Line("  failed", shorten(event["error"]), "red")]
    if event["passages"]:
        return [Line("  found", f"{p['title']}: {shorten(p['text'])} [{p['id']}]") for p in event["passages"]]
    return [Line("  reply", shorten(event["text"]))]


def _fact(event: Told) -> list[Line]:
    fact = event["fact"]
    if fact["origin"] == "failed":
        return [Line("no fact", f"{fact['question']} {shorten(fact['error'])}", "red")]
    return [Line("fact", f"{fact['question']} {shorten(fact['answer'])} (from {fact['origin']})", "green")]


def _doubt(event: Told) -> list[Line]:
    return [Line("doubt", f"{shorten(event['answer'])}: {event['why']}", "yellow")]


TELLERS: dict[str, Teller] = {
    events.split.kind: _split,
    events.recall.kind: _recall,
    events.call.kind: _call,
    events.reply.kind: _reply,
    events.fact.kind: _fact,
    events.doubt.kind: _doubt,
    events.answer.kind: not_told,
}
"""One entry an event."""
