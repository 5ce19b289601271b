"""Causal language models on this machine: one loader, one way to write, one to tell how likely a text is.

A chat model (`llm.local`) and a reward from two models (`models.progress_reward`) are made of the same `CausalModel`.
"""

from langgraph_evidence.models.causal.box import get_smollm2, smollm2_folder
from langgraph_evidence.models.causal.likelihood import TokenLikelihood
from langgraph_evidence.models.causal.model import CausalModel
from langgraph_evidence.models.causal.sampling import Allowed, SampledToken, Sampling

__all__ = ["Allowed", "CausalModel", "SampledToken", "Sampling", "TokenLikelihood", "get_smollm2", "smollm2_folder"]
