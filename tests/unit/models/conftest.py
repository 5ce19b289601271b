"""A scoring server on loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from local_service import Answer, serving

from langgraph_evidence.models.remote import client

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Its address, its `state["reply"](payload)` (a value, a status, or an `Answer`), and what it was asked."""
    monkeypatch.setattr(client, "_PAUSE", 0.001)
    seen: list[dict[str, Any]] = []
    state: dict[str, Any] = {"reply": lambda payload: []}

    def answer(arrival: Any) -> Answer:
        payload = json.loads(arrival.body) if arrival.body else {}
        seen.append(payload)
        reply = state["reply"](payload)
        if isinstance(reply, Answer):
            return reply
        return Answer(b"busy", reply) if isinstance(reply, int) else Answer(json.dumps(reply).encode())

    with serving(answer) as service:
        yield service.url, state, seen
