"""REBEL as LangGraph Server loads it: `graph` takes a question, `chat` a conversation.

The environment chooses the parts, once, when this file is loaded:

- `EVIDENCE_MODEL`: "offline", "smollm2", or provider:model as LangChain names it.
- `EVIDENCE_INDEX`: an index made by `evidence index build`, or
- `EVIDENCE_CORPUS`: a file or folder of passages; without either, the shipped sample.
- `EVIDENCE_TOOLS`: a folder of tool files, used beside the search; without it, search alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from langgraph_evidence import create_rebel
from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import as_chat, load_tools, search_tool

retriever = open_source(index=os.environ.get("EVIDENCE_INDEX"), corpus=os.environ.get("EVIDENCE_CORPUS"))
folder = os.environ.get("EVIDENCE_TOOLS")
tools = [search_tool(retriever), *(load_tools(Path(folder), environment=os.environ) if folder else [])]
graph = create_rebel(os.environ.get("EVIDENCE_MODEL", "offline"), tools).compile(name="rebel")
chat = as_chat(graph).compile(name="rebel_chat")
