"""The paper's data pipeline (section 2.1, appendix A.2) with any chat model as annotator, in stages that resume.

`stages` says what is done to a row and why it is dropped; `stored` keeps each stage's results on disk; `pipeline` runs
the rows at the same time and writes the records.
"""

from langgraph_evidence.training.rq_rag.annotate.pipeline import AnnotateOptions, annotate

__all__ = ["AnnotateOptions", "annotate"]
