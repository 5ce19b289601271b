"""Models behind a server: one client, and pairs of texts scored (TEI, vLLM).

It knows no local model; `models.base.pairs` and `models.entailment` make scorers of what a server answers.
"""

from langgraph_evidence.models.remote.client import is_url, post_json
from langgraph_evidence.models.remote.pair_server import SINGLE, Outputs, Pair, PairServer

__all__ = ["SINGLE", "Outputs", "Pair", "PairServer", "is_url", "post_json"]
