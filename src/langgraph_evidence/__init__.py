"""Published methods of answering from evidence, each one LangGraph state machine: multi-hop, checked and cited.

The names below are loaded when they are first used, so that importing the package costs nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.methods.furepa import FurepaSettings, create_furepa
    from langgraph_evidence.methods.rebel import RebelSettings, create_rebel
    from langgraph_evidence.retrieval import Corpus, open_index, retriever_for
    from langgraph_evidence.tools import as_tool

__all__ = [
    "Corpus",
    "FurepaSettings",
    "RebelSettings",
    "as_tool",
    "create_furepa",
    "create_rebel",
    "open_index",
    "retriever_for",
]

__getattr__ = lazily(
    __name__,
    {
        "methods.furepa": "FurepaSettings create_furepa",
        "methods.rebel": "RebelSettings create_rebel",
        "retrieval": "Corpus open_index retriever_for",
        "tools": "as_tool",
    },
)


def __dir__() -> list[str]:
    return __all__
