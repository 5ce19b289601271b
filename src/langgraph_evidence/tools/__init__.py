"""Agent tools: any method as a tool or behind a chat, and search over passages."""

from __future__ import annotations

from langgraph_evidence.tools.chat import as_chat
from langgraph_evidence.tools.method import as_tool
from langgraph_evidence.tools.search import search_tool

__all__ = ["as_chat", "as_tool", "search_tool"]
