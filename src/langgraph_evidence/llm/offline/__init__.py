"""The offline chat model: this package's prompts answered by extraction, with no key, no server and no download."""

from __future__ import annotations

from langgraph_evidence.llm.offline.chat import OfflineChat, Responder, Responders

__all__ = ["OfflineChat", "Responder", "Responders"]
