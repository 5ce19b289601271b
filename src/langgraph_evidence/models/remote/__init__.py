"""Models behind a server: one client, pairs of texts scored (TEI, vLLM), and texts weighed token by token (vLLM).

It knows no local model; `models.base.pairs` and `models.entailment` make scorers of what a server answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.models.remote.client import is_url, post_json
    from langgraph_evidence.models.remote.likelihood import ServedLikelihood
    from langgraph_evidence.models.remote.pair_server import SINGLE, Outputs, Pair, PairServer

__all__ = [
    "SINGLE",
    "Outputs",
    "Pair",
    "PairServer",
    "ServedLikelihood",
    "is_url",
    "post_json",
]

__getattr__ = lazily(
    __name__,
    {
        "client": "is_url post_json",
        "likelihood": "ServedLikelihood",
        "pair_server": "Outputs Pair PairServer SINGLE",
    },
)
