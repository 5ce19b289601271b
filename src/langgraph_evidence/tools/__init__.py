"""Agent tools: any method as a tool, and search over passages."""

from __future__ import annotations

from langgraph_evidence.tools.method import as_tool
from langgraph_evidence.tools.search import search_tool

__all__ = ["as_tool", "search_tool"]
