"""Agent tools: any method as a tool or behind a chat, search over passages, tools from files, arithmetic."""

from __future__ import annotations

from langgraph_evidence.tools.calculator import calculator_tool
from langgraph_evidence.tools.chat import as_chat
from langgraph_evidence.tools.folder import check_folder, load_tools
from langgraph_evidence.tools.http_tool import http_tool
from langgraph_evidence.tools.method import as_tool
from langgraph_evidence.tools.search import search_tool

__all__ = ["as_chat", "as_tool", "calculator_tool", "check_folder", "http_tool", "load_tools", "search_tool"]
