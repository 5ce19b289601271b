"""A ready-made calculator for an agent."""

from __future__ import annotations

from langgraph_evidence.tools import calculator_tool

tool = calculator_tool()
