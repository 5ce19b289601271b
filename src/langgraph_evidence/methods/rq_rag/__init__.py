"""RQ-RAG: learning to refine queries for retrieval augmented generation (Chan et al. 2024, arXiv 2404.00610)."""
