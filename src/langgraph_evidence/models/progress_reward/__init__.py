"""How good a partial answer is as a step to the whole one (Think&Cite, generation progress reward R_g).

`ProgressReward` is the shipped Bradley-Terry head or a full-size reward model; `DpoProgressReward` is the paper's
log-ratio of a preference-aligned language model and its reference.
"""

from langgraph_evidence.models.progress_reward.dpo import DpoProgressReward
from langgraph_evidence.models.progress_reward.model import (
    HEAD,
    LABELS,
    AnswerStep,
    PairStepScorer,
    ProgressHead,
    ProgressReward,
    StepScorer,
    VectorStepScorer,
    context_of,
    open_step_scorer,
    step_features,
)
from langgraph_evidence.models.progress_reward.reward import GenerationReward

__all__ = [
    "HEAD", "LABELS", "AnswerStep", "DpoProgressReward", "GenerationReward", "PairStepScorer", "ProgressHead",
    "ProgressReward", "StepScorer", "VectorStepScorer", "context_of", "open_step_scorer", "step_features",
]  # fmt: skip
