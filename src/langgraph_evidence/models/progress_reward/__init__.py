"""How good a partial answer is as a step to the whole one (Think&Cite, generation progress reward R_g).

`ProgressReward` is the shipped Bradley-Terry head or a full-size reward model; `DpoProgressReward` is the paper's
log-ratio of a preference-aligned language model and its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base import default_encoder, once

if TYPE_CHECKING:
    from langgraph_evidence.models.progress_reward.dpo import DpoProgressReward
    from langgraph_evidence.models.progress_reward.model import (
        HEAD,
        LABELS,
        GenerationReward,
        PairStepScorer,
        ProgressHead,
        ProgressReward,
        Step,
        StepScorer,
        VectorStepScorer,
        context_of,
        open_step_scorer,
        step_features,
    )

__all__ = [
    "HEAD",
    "LABELS",
    "DpoProgressReward",
    "GenerationReward",
    "PairStepScorer",
    "ProgressHead",
    "ProgressReward",
    "Step",
    "StepScorer",
    "VectorStepScorer",
    "context_of",
    "default_progress_reward",
    "open_step_scorer",
    "step_features",
]

__getattr__ = lazily(
    __name__,
    {
        "dpo": "DpoProgressReward",
        "model": "GenerationReward HEAD LABELS PairStepScorer ProgressHead ProgressReward Step StepScorer "
        "VectorStepScorer context_of open_step_scorer step_features",
    },
)


@once
def default_progress_reward() -> ProgressReward:
    """The process's shared reward: the shipped head over the shared encoder.

    Raises:
        ResourceError: The shipped weights or the base are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.progress_reward.model import ProgressReward

    return ProgressReward.load(encoder=default_encoder())
