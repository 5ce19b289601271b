"""Published methods of answering from evidence, each one LangGraph state machine: multi-hop, checked and cited.

The names below are loaded when they are first used, so that importing the package costs nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph_evidence.methods.furepa import FurepaSettings, create_furepa
    from langgraph_evidence.methods.rebel import RebelSettings, create_rebel
    from langgraph_evidence.methods.rq_rag import RqRagSettings, create_rq_rag
    from langgraph_evidence.retrieval import Corpus, open_index, retriever_for
    from langgraph_evidence.tools import as_tool

__all__ = [
    "Corpus",
    "FurepaSettings",
    "RebelSettings",
    "RqRagSettings",
    "as_tool",
    "create_furepa",
    "create_rebel",
    "create_rq_rag",
    "open_index",
    "retriever_for",
]

_HOMES = {
    "Corpus": "langgraph_evidence.retrieval",
    "FurepaSettings": "langgraph_evidence.methods.furepa",
    "RebelSettings": "langgraph_evidence.methods.rebel",
    "RqRagSettings": "langgraph_evidence.methods.rq_rag",
    "as_tool": "langgraph_evidence.tools",
    "create_furepa": "langgraph_evidence.methods.furepa",
    "create_rebel": "langgraph_evidence.methods.rebel",
    "create_rq_rag": "langgraph_evidence.methods.rq_rag",
    "open_index": "langgraph_evidence.retrieval",
    "retriever_for": "langgraph_evidence.retrieval",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
