"""The entailment head: its pairs (`data`), its training, its table beside what needs no training."""

from langgraph_evidence.training.entailment.evaluate import evaluate_entailment
from langgraph_evidence.training.entailment.options import EntailmentOptions
from langgraph_evidence.training.entailment.train import train_entailment

__all__ = ["EntailmentOptions", "evaluate_entailment", "train_entailment"]
