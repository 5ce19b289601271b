"""FuRePA as LangGraph Server loads it: `graph` takes a question, `chat` a conversation.

The environment chooses the parts, once, when this file is loaded:

- `EVIDENCE_MODEL`: "offline", "smollm2", or provider:model as LangChain names it.
- `EVIDENCE_INDEX`: an index made by `evidence index build`, or
- `EVIDENCE_CORPUS`: a file or folder of passages; without either, the shipped sample.
"""

from __future__ import annotations

import os

from langgraph_evidence import create_furepa
from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import as_chat

retriever = open_source(index=os.environ.get("EVIDENCE_INDEX"), corpus=os.environ.get("EVIDENCE_CORPUS"))
graph = create_furepa(os.environ.get("EVIDENCE_MODEL", "offline"), retriever).compile(name="furepa")
chat = as_chat(graph).compile(name="furepa_chat")
