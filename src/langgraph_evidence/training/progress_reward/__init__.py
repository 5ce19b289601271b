"""The progress reward: pairs of next sentences (`data`), training, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
    from langgraph_evidence.training.progress_reward.evaluate import measure_progress_reward
    from langgraph_evidence.training.progress_reward.train import train_progress_reward

__all__ = [
    "measure_progress_reward",
    "train_progress_reward",
]

__getattr__ = lazily(
    __name__,
    {
        "evaluate": "measure_progress_reward",
        "train": "train_progress_reward",
    },
)
