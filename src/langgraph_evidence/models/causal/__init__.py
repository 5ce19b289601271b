"""Causal language models on this machine: one loader, one way to write, one to tell how likely a text is.

A chat model (`llm.local`) and a reward from two models (`models.progress_reward`) are made of the same `CausalModel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.models.causal.likelihood import TokenLikelihood
    from langgraph_evidence.models.causal.model import CausalModel
    from langgraph_evidence.models.causal.sampling import Allowed, Sampling, Token

__all__ = [
    "Allowed",
    "CausalModel",
    "Sampling",
    "Token",
    "TokenLikelihood",
]

__getattr__ = lazily(
    __name__,
    {
        "likelihood": "TokenLikelihood",
        "model": "CausalModel",
        "sampling": "Allowed Sampling Token",
    },
)
