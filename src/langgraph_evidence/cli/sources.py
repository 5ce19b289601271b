"""Where the passages of a command come from: an index, a corpus, or the shipped sample."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from langgraph_evidence.data import sample_passages_path
from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.retrievers import BaseRetriever


class Kind(StrEnum):
    """How passages are ranked."""

    bm25 = "bm25"
    dense = "dense"
    hybrid = "hybrid"


def open_retriever(corpus: Path | None, index: Path | None, *, kind: Kind) -> tuple[BaseRetriever, str]:
    """The retriever of a command, and what it searches in words.

    Raises:
        InvalidInput: Both a corpus and an index are given.
        ResourceError: What is given is missing or damaged.
    """
    from langgraph_evidence.retrieval import Corpus, open_index, retriever_for

    if corpus is not None and index is not None:
        raise InvalidInput("Give --corpus or --index, not both.")
    if index is not None:
        return open_index(index), str(index)
    passages = Corpus.load(corpus or sample_passages_path())
    what = str(corpus) if corpus else "the shipped sample of Wikipedia"
    return retriever_for(passages, kind=kind.value), f"{len(passages):,} passages of {what}"
