"""Which sentences bear on a question or a claim; a full-size cross encoder or its server can take the head's place."""

from langgraph_evidence.models.sentence_ranker.model import HEAD, LABELS, RankerModel, SentenceRanker

__all__ = ["HEAD", "LABELS", "RankerModel", "SentenceRanker"]
