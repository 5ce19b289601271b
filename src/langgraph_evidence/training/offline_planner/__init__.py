"""The offline model's two tables (`llm.offline.weights`): played walks (`data`), their fits, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily

if TYPE_CHECKING:
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

__getattr__ = lazily(
    __name__,
    {
        "data": "Case SETTINGS read_cases sample_queries",
        "evaluate": "measure_shipped_planner",
        "train": "PlannerOptions train_offline_planner",
    },
)
