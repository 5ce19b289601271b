"""REBEL: recursion based extensible LLM (arXiv 2309.11688)."""

from langgraph_evidence.methods.rebel.graph import create_rebel
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.tree import draw_tree, outline

__all__ = ["RebelSettings", "create_rebel", "draw_tree", "outline"]
