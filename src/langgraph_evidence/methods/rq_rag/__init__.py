"""RQ-RAG: learning to refine queries for retrieval augmented generation (arXiv 2404.00610)."""

from langgraph_evidence.methods.rq_rag.graph import create_rq_rag
from langgraph_evidence.methods.rq_rag.settings import RqRagSettings

__all__ = ["RqRagSettings", "create_rq_rag"]
