"""One way to name what is searched, for the command line, the server's graphs and the ready-made tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.data import sample_passages_path
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.retrieval.corpus import Corpus
from langgraph_evidence.retrieval.index import open_index, retriever_for

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph_evidence.retrieval.index import Kind
    from langgraph_evidence.retrieval.retriever import PassageRetriever


def open_source(
    *, index: str | Path | None = None, corpus: str | Path | None = None, kind: Kind = "bm25"
) -> PassageRetriever:
    """Opens an index, or ranks a corpus in memory; the shipped sample when neither is named.

    Raises:
        InvalidInput: Both are named.
        ResourceError: What is named is missing or damaged.
    """
    if corpus and index:
        raise InvalidInput("Name a corpus or an index, not both.")
    if index:
        return open_index(index)
    return retriever_for(Corpus.load(corpus or sample_passages_path()), kind)
