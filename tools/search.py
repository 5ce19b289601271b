"""A ready-made search tool for an agent; `EVIDENCE_INDEX` or `EVIDENCE_CORPUS` chooses what it searches."""

from __future__ import annotations

import os

from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import search_tool

tool = search_tool(
    open_source(index=os.environ.get("EVIDENCE_INDEX"), corpus=os.environ.get("EVIDENCE_CORPUS")),
    name="search_passages",
    description="Searches a collection of Wikipedia passages. Give names and words that the passage would contain.",
)
