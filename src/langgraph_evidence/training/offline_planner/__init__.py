"""The offline model's two tables (`llm.offline.weights`): played walks (`data`), their fits, figures."""

from langgraph_evidence.training.offline_planner.data import SETTINGS, Case, read_cases, sample_queries
from langgraph_evidence.training.offline_planner.evaluate import measure_shipped_planner
from langgraph_evidence.training.offline_planner.train import PlannerOptions, train_offline_planner

__all__ = [
    "SETTINGS",
    "Case",
    "PlannerOptions",
    "measure_shipped_planner",
    "read_cases",
    "sample_queries",
    "train_offline_planner",
]
