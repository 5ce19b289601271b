"""The progress reward: pairs of next sentences (`data`), training, metrics."""

from langgraph_evidence.training.progress_reward.evaluate import measure_progress_reward
from langgraph_evidence.training.progress_reward.train import train_progress_reward

__all__ = ["measure_progress_reward", "train_progress_reward"]
