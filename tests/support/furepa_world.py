"""A tiny world for FuRePA's end-to-end tests: three passages, a retriever over words, a script keyed by the prompt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from langgraph_evidence.llm.prompt import PromptCall

QUESTION = "Where is the stadium named after Dhyan Chand's brother?"
PASSAGES = {
    "chand": ("Dhyan Chand", "Dhyan Chand was a hockey player. His brother was Roop Singh."),
    "stadium": (
        "Captain Roop Singh Stadium",
        "It is a cricket ground in Gwalior, India. It is named after Roop Singh.",
    ),
    "house": ("House", "House is a drama that ran on the Fox network."),
}


class WordRetriever(BaseRetriever):
    """Ranks the passages by shared words and records the queries."""

    asked: list[str] = Field(default_factory=list)
    passages: dict[str, tuple[str, str]] = Field(default_factory=lambda: dict(PASSAGES))

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 4) -> list[Document]:
        self.asked.append(query)
        asked = set(re.findall(r"\w+", query.lower()))

        def shared(item: tuple[str, tuple[str, str]]) -> int:
            return len(asked & set(re.findall(r"\w+", " ".join(item[1]).lower())))

        ranked = sorted(self.passages.items(), key=shared, reverse=True)
        return [
            Document(text, id=name, metadata={"title": title})
            for name, (title, text) in ranked
            if shared((name, (title, text)))
        ][:k]


FIRST, FORCE = Asks("furepa.first"), Asks("furepa.force*")


def holds(*words: str, missing: str = "") -> Asks:
    """Matches when the values of a prompt hold all words and not the missing one."""

    def where(call: PromptCall) -> bool:
        told = json.dumps(call.values, ensure_ascii=False)
        return all(word in told for word in words) and not (missing and missing in told)

    return Asks("furepa.*", where)


def script() -> list[tuple[Any, Any]]:
    """Two hops, then an answer."""
    return [
        (FIRST, "[Search] Dhyan Chand brother"),
        (FORCE, "[Analysis] Nothing more.\n[Answer] Gwalior"),
        (holds("Gwalior"), "[Analysis] The stadium of Roop Singh is in Gwalior.\n[Answer] Gwalior, India"),
        (holds("Roop Singh"), "[Analysis] The brother is Roop Singh.\n[Search] stadium named after Roop Singh"),
    ]


def scripted(**fields: Any) -> ScriptedChat:
    """The scripted model of this world."""
    return ScriptedChat(**{"rules": script(), **fields})


class FixedScorer:
    """Scores by a table of word -> s; the best passage of a query gets it."""

    trained = True

    def __init__(self, table: dict[str, float]) -> None:
        self.table = table

    def score(self, queries: Any, passages: Any) -> list[list[float]]:
        return [
            [max((s for word, s in self.table.items() if word in query), default=0.0)] * len(passages)
            for query in queries
        ]
