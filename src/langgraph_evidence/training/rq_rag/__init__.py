"""RQ-RAG's training (sections 2.1, 2.2): records, from data sets or an annotator, and the fine-tuning on them.

`make` writes the records that data sets themselves allow (`sources`, `drafts`, `queries`, `searching`); `annotate` has
a chat model write them, stage by stage. `examples` and `packing` make tokens of them, `train` an adapter of those.
"""

from langgraph_evidence.training.rq_rag.command import records_by_model, records_of_data, train_rq_rag
from langgraph_evidence.training.rq_rag.make import make_records
from langgraph_evidence.training.rq_rag.options import FineTuneOptions, MakeOptions
from langgraph_evidence.training.rq_rag.records import Record, read_records
from langgraph_evidence.training.rq_rag.train import NAME, fine_tune

__all__ = [
    "NAME", "FineTuneOptions", "MakeOptions", "Record", "fine_tune", "make_records", "read_records",
    "records_by_model", "records_of_data", "train_rq_rag",
]  # fmt: skip
