"""How FuRePA's events are told on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from langgraph_evidence.methods.furepa import events
from langgraph_evidence.telling import Line, not_told, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.telling import Teller

    Told = Mapping[str, Any]


def _plans(event: Told) -> list[Line]:
    warmth = "the model's own temperature" if event["temperature"] is None else f"temperature {event['temperature']:g}"
    head = f"{len(event['plans'])} plans at {warmth}"
    counts = Counter((plan["kind"], plan["text"]) for plan in event["plans"])
    rows = [Line(kind, _times(shorten(text), count)) for (kind, text), count in counts.most_common()]
    return [Line(f"round {event['iteration'] + 1}", head, "bold"), *rows]


def _times(text: str, count: int) -> str:
    return f"{text} ({count} times)" if count > 1 else text


def _decision(event: Told) -> list[Line]:
    return [Line("decision", f"{event['decision']} ({event['answers']} answer, {event['queries']} search)")]


def _query(event: Told) -> list[Line]:
    by = {"trained": "", "untrained": ", by untrained similarity", "none": ""}[event["scorer"]]
    lines = []
    for place, row in enumerate(event["queries"]):
        score = "" if event["scorer"] == "none" else f" (score {row['score']:.2f}{by})"
        lines.append(Line("query" if place == 0 else "  not", row["query"] + score, "bold" if place == 0 else "dim"))
    return lines


def _evidence(event: Told) -> list[Line]:
    passage = event["passage"]
    if passage is None:
        return [Line("evidence", "nothing new")]
    return [Line("evidence", f"{passage['title']}: {shorten(passage['text'])} [{passage['id']}]", "green")]


def _doubt(event: Told) -> list[Line]:
    return [Line("doubt", f"{shorten(event['answer'])}: {event['why']}", "yellow")]


TELLERS: dict[str, Teller] = {
    events.plans.kind: _plans,
    events.decision.kind: _decision,
    events.query.kind: _query,
    events.evidence.kind: _evidence,
    events.doubt.kind: _doubt,
    events.answer.kind: not_told,
}
"""One entry an event."""
