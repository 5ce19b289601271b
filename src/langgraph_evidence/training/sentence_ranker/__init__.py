"""The sentence ranker: lists and groups of sentences (`data`), training, metrics."""

from langgraph_evidence.training.sentence_ranker.evaluate import measure_sentence_ranker
from langgraph_evidence.training.sentence_ranker.train import train_sentence_ranker

__all__ = ["measure_sentence_ranker", "train_sentence_ranker"]
