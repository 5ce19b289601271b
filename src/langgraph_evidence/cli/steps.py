"""The lines that tell each event of a run; an event that has no teller here is told by its fields."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from langgraph_evidence.cli.screen import Line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Event = Mapping[str, Any]

_EXCERPT = 160


def tell(event: Event) -> list[Line]:
    """The lines of one event, the first of them labelled with its kind."""
    teller = _TELLERS.get(str(event.get("type")), _fields)
    return teller(event)


def _fields(event: Event) -> list[Line]:
    shown = ", ".join(f"{name}={value}" for name, value in event.items() if name not in {"type", "v"})
    return [Line(str(event.get("type", "event")).rpartition(".")[2], shorten(shown, _EXCERPT))]


def _furepa_plans(event: Event) -> list[Line]:
    warmth = "the model's own temperature" if event["temperature"] is None else f"temperature {event['temperature']:g}"
    head = f"{len(event['plans'])} plans at {warmth}"
    counts = Counter((plan["kind"], plan["text"]) for plan in event["plans"])
    rows = [Line(kind, _times(shorten(text, _EXCERPT), count)) for (kind, text), count in counts.most_common()]
    return [Line(f"round {event['iteration'] + 1}", head, "bold"), *rows]


def _times(text: str, count: int) -> str:
    return f"{text} ({count} times)" if count > 1 else text


def _furepa_decision(event: Event) -> list[Line]:
    return [Line("decision", f"{event['decision']} ({event['answers']} answer, {event['queries']} search)")]


def _furepa_query(event: Event) -> list[Line]:
    by = {"trained": "", "untrained": ", by untrained similarity", "none": ""}[event["scorer"]]
    lines = []
    for place, row in enumerate(event["queries"]):
        score = "" if event["scorer"] == "none" else f" (score {row['score']:.2f}{by})"
        lines.append(Line("query" if place == 0 else "  not", row["query"] + score, "bold" if place == 0 else "dim"))
    return lines


def _furepa_evidence(event: Event) -> list[Line]:
    passage = event["passage"]
    if passage is None:
        return [Line("evidence", "nothing new")]
    return [Line("evidence", f"{passage['title']}: {shorten(passage['text'], _EXCERPT)} [{passage['id']}]", "green")]


def _rebel_split(event: Event) -> list[Line]:
    if not event["subquestions"]:
        return []
    parts = [Line("  part", text, "bold") for text in event["subquestions"].values()]
    dropped = [Line("  dropped", text, "dim") for text in event["dropped"]]
    return [Line("split", event["question"]), *parts, *dropped]


def _rebel_recall(event: Event) -> list[Line]:
    said = "known" if event["known"] else "not known"
    return [Line("recall", f"{event['question']} {said} ({event['facts']} facts)")]


def _rebel_call(event: Event) -> list[Line]:
    arguments = ", ".join(f"{name}={value!r}" for name, value in event["arguments"].items())
    return [Line("tool", shorten(f"{event['tool']}({arguments})", _EXCERPT), "bold")]


def _rebel_reply(event: Event) -> list[Line]:
    if event["error"]:
        return [Line("  failed", shorten(event["error"], _EXCERPT), "red")]
    if event["passages"]:
        return [Line("  found", f"{p['title']}: {shorten(p['text'], _EXCERPT)} [{p['id']}]") for p in event["passages"]]
    return [Line("  reply", shorten(event["text"], _EXCERPT))]


def _rebel_fact(event: Event) -> list[Line]:
    fact = event["fact"]
    if fact["origin"] == "failed":
        return [Line("no fact", f"{fact['question']} {shorten(fact['error'], _EXCERPT)}", "red")]
    return [Line("fact", f"{fact['question']} {shorten(fact['answer'], _EXCERPT)} (from {fact['origin']})", "green")]


def _nothing(_event: Event) -> list[Line]:
    """The answer is shown with its citations when the run has ended."""
    return []


_TELLERS: dict[str, Callable[[Event], list[Line]]] = {
    "furepa.plans": _furepa_plans,
    "furepa.decision": _furepa_decision,
    "furepa.query": _furepa_query,
    "furepa.evidence": _furepa_evidence,
    "furepa.answer": _nothing,
    "rebel.split": _rebel_split,
    "rebel.recall": _rebel_recall,
    "rebel.call": _rebel_call,
    "rebel.reply": _rebel_reply,
    "rebel.fact": _rebel_fact,
    "rebel.answer": _nothing,
}
