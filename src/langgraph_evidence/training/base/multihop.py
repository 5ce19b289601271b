"""The multi-hop data sets: their files, a row's own passages, and how BM25 ranks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from langgraph_evidence.retrieval.bm25 import BM25Retriever
    from langgraph_evidence.training.base.data import Row

FILES = {
    "HotpotQA": ("multihop/hotpotqa_train.jsonl", "multihop/hotpotqa_dev.jsonl"),
    "2Wiki": ("multihop/2wiki_train.jsonl", "multihop/2wiki_dev.jsonl"),
    "MuSiQue": ("multihop/musique_train.jsonl", "multihop/musique_dev.jsonl"),
}
"""Of each data set."""
SENTENCE_FILES = (*FILES["HotpotQA"], *FILES["2Wiki"])
"""Those whose rows name the supporting sentences."""


def passages_of(row: Row) -> list[Passage]:
    """The passages of a multi-hop row; their ids are their indexes."""
    return [
        Passage(id=str(index), title=title, text=text if isinstance(text, str) else " ".join(map(str.strip, text)))
        for index, (title, text) in enumerate(row["context"])
    ]


def full_ranking(retriever: BM25Retriever, query: str) -> tuple[int, ...]:
    """All passages' indexes, best first; those without a shared term come last."""
    count = len(retriever.passages)
    ranked = [int(position) for position in retriever.rank(query, count).positions]
    return (*ranked, *(index for index in range(count) if index not in frozenset(ranked)))
