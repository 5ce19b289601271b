"""What a run tells while it runs."""

from __future__ import annotations

from typing_extensions import TypedDict

from langgraph_evidence.events import Event, schemas
from langgraph_evidence.run import Answered


class Search(TypedDict):
    """`toy.search`: a query, and how many passages it brought."""

    query: str
    found: int


search = Event("toy.search", Search)
answer = Event("toy.answer", Answered)

SCHEMAS = schemas(search, answer)
