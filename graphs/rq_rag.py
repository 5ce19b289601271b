"""RQ-RAG as LangGraph Server loads it: `graph` takes a question, `chat` a conversation.

The environment chooses the parts, once, when this file is loaded:

- `EVIDENCE_MODEL`: "offline", or provider:model as LangChain names it.
- `EVIDENCE_INDEX`: an index made by `evidence index build`, or
- `EVIDENCE_CORPUS`: a file or folder of passages; without either, the shipped sample.
"""

from __future__ import annotations

import os

from langgraph_evidence import create_rq_rag
from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import as_chat

retriever = open_source(index=os.environ.get("EVIDENCE_INDEX"), corpus=os.environ.get("EVIDENCE_CORPUS"))
graph = create_rq_rag(os.environ.get("EVIDENCE_MODEL", "offline"), retriever).compile(name="rq_rag")
chat = as_chat(graph).compile(name="rq_rag_chat")
