"""The offline model's two tables (`llm.offline.weights`): rollouts of FuRePA's graph, their fits, figures."""

from langgraph_evidence.training.offline_planner.data import Case, read_cases
from langgraph_evidence.training.offline_planner.evaluate import measure_shipped_planner
from langgraph_evidence.training.offline_planner.rollouts import Order, Rollout, Search, play
from langgraph_evidence.training.offline_planner.train import PlannerOptions, train_offline_planner

__all__ = [
    "Case",
    "Order",
    "PlannerOptions",
    "Rollout",
    "Search",
    "measure_shipped_planner",
    "play",
    "read_cases",
    "train_offline_planner",
]
