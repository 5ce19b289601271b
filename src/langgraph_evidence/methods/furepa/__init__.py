"""FuRePA: furthest reasoning with a plan assessor (arXiv 2309.12767)."""

from langgraph_evidence.methods.furepa.graph import create_furepa
from langgraph_evidence.methods.furepa.settings import FurepaSettings

__all__ = ["FurepaSettings", "create_furepa"]
