"""What a language model tells while a method runs: custom events; `docs/events.md` is generated from here."""

from __future__ import annotations

from typing_extensions import TypedDict

from langgraph_evidence import events


class ParameterRefused(TypedDict):
    """`llm.parameter_refused`: the server refused a parameter by name; from now on the model is called without it."""

    model: str
    parameter: str
    reason: str


SCHEMAS: dict[str, type] = {"llm.parameter_refused": ParameterRefused}
"""The payload of every event, beside `type` and `v`."""


def parameter_refused(payload: ParameterRefused) -> None:
    """Sends `llm.parameter_refused`."""
    events.emit("llm.parameter_refused", payload)
