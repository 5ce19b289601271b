"""The reader: examples (`data`, `mixture`, `single_passage`), answers found in them (`alignment`), metrics."""

from langgraph_evidence.training.reader.evaluate import evaluate_reader
from langgraph_evidence.training.reader.train import ReaderPlan, train_reader

__all__ = ["ReaderPlan", "evaluate_reader", "train_reader"]
