"""How the events are told on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.telling import Line, not_told
from toy import events

if TYPE_CHECKING:
    from langgraph_evidence.telling import Teller

TELLERS: dict[str, Teller] = {
    events.search.kind: lambda event: [Line("search", f"{event['query']} ({event['found']} found)")],
    events.answer.kind: not_told,
}
