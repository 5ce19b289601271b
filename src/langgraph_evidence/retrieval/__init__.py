"""Corpora, indexes and retrievers: BM25, dense and hybrid, in memory or in a folder of verified files."""

from __future__ import annotations

from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.retrieval.corpus import Corpus, CorpusPassage
from langgraph_evidence.retrieval.dense import DenseRetriever
from langgraph_evidence.retrieval.hybrid import HybridRetriever
from langgraph_evidence.retrieval.index import build_index, open_index, retriever_for
from langgraph_evidence.retrieval.okapi import OkapiRetriever
from langgraph_evidence.retrieval.retriever import PassageRetriever

__all__ = [
    "BM25Retriever", "Corpus", "CorpusPassage", "DenseRetriever", "HybridRetriever", "OkapiRetriever",
    "PassageRetriever", "build_index", "open_index", "retriever_for",
]  # fmt: skip
