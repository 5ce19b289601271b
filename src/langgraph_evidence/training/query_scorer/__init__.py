"""FuRePA's query scorer: candidate queries (`data`), rounds of the offline model (`rollouts`), training, figures."""

from langgraph_evidence.training.query_scorer.evaluate import measure_query_scorer
from langgraph_evidence.training.query_scorer.train import train_query_scorer

__all__ = ["measure_query_scorer", "train_query_scorer"]
