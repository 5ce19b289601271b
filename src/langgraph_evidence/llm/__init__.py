"""Every call to a language model: prompts as data, one limit, one retry policy, one ledger."""

from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.prompt import Prompt, quote
from langgraph_evidence.llm.replies import Reply, Sample

__all__ = ["LanguageModel", "Prompt", "Reply", "Sample", "quote"]
