"""A ready-made web search for an agent; it needs the extra `web`."""

from __future__ import annotations

from langgraph_evidence.tools.web import web_search_tool

tool = web_search_tool()
