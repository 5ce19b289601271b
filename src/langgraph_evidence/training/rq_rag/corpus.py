"""Passages around a question that comes without paragraphs of its own: its gold ones among what a search brings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.training.base import DataFolder

_PASSAGES = "passages/wiki_passages.jsonl"
_SAME = 80


class Corpus:
    """The data folder's passages of Wikipedia, read and indexed when they are first asked for.

    Args:
        data: The folder; one without the file has no passages.
    """

    def __init__(self, data: DataFolder) -> None:
        self._data = data

    @cached_property
    def passages(self) -> list[Passage]:
        """All of them; their places are the numbers by which rows name them."""
        rows = self._data.rows(_PASSAGES) if self._data.find(_PASSAGES) else []
        return [Passage(id=f"wiki:{row['pid']}", title=row["title"], text=row["text"]) for row in rows]

    @cached_property
    def _retriever(self) -> BM25Retriever:
        return BM25Retriever(passages=self.passages)

    def around(self, gold: Sequence[Passage], queries: Sequence[str], *, count: int) -> list[Passage]:
        """The gold passages, then the best others for the queries in turn, `count` in all; none stands there twice."""
        found = list(gold)
        if not self.passages:
            return found
        known = {_key(passage) for passage in gold}
        ranked = [self._retriever.rank(query, count).positions.tolist() for query in queries]
        for place in (place for row in zip(*_even(ranked, count), strict=True) for place in row if place >= 0):
            passage = self.passages[place]
            if len(found) < count and _key(passage) not in known:
                known.add(_key(passage))
                found.append(passage)
        return found


def _even(rows: Sequence[list[int]], count: int) -> list[list[int]]:
    return [[*row, *[-1] * (count - len(row))] for row in rows]


def _key(passage: Passage) -> str:
    """What two copies of a passage share, whatever was cut off their ends."""
    letters = "".join(c for c in f"{passage['title']}{passage['text']}".lower() if c.isalnum())
    return letters[:_SAME]
