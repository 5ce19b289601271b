"""The questions on which an answer's trust is measured: fold 7 of the multi-hop sets, with paragraphs and gold."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.datasets import load_data
from langgraph_evidence.retrieval import Corpus, retriever_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.retrieval import PassageRetriever

FILES = (
    "hotpotqa_dev", "hotpotqa_train", "hotpotqa_more", "2wiki_dev", "2wiki_train", "2wiki_dev_more", "musique_dev",
    "musique_train", "known_questions_with_paragraphs",
)  # fmt: skip
"""In `multihop/`: questions with paragraphs of their own."""
OPEN_FILES = ("musique_dev_open",)
"""In `multihop/`: questions whose gold passages are in `passages/wiki_passages`."""
MISSING_FILES = ("hotpotqa_dev_fullwiki_missing_gold", "hotpotqa_dev_fullwiki_missing_gold_more")
"""In `multihop/`: questions whose paragraphs lack a gold one."""
SETS = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2Wiki", "musique": "MuSiQue"}
"""The names that tables give the data sets."""

# MuSiQue gives a question twenty paragraphs, the others found by BM25, as here.
_PARAGRAPHS = 20


def own_questions(root: Path, *, fold: int, files: Sequence[str] = FILES) -> list[Question]:
    """The questions of a fold with paragraphs of their own, each once.

    Args:
        root: The data folder.
        fold: The fold to keep.
        files: Names of files in `multihop/`.

    Raises:
        ResourceError: A file is missing or damaged.
    """
    found: dict[str, Question] = {}
    for name in files:
        for question in _of_fold(root, name, fold):
            if question.passages:
                found.setdefault(question.id, question)
    return list(found.values())


def _of_fold(root: Path, name: str, fold: int) -> Sequence[Question]:
    path = root / "multihop" / f"{name}.jsonl.gz"
    if not path.is_file():
        raise ResourceError(f"The data folder {root} lacks multihop/{name}.jsonl.gz.")
    try:
        return load_data(path, fold=fold).questions
    except InvalidInput:
        # The file has no question of the fold.
        return ()


def open_questions(root: Path, *, fold: int, known: Sequence[Question]) -> list[Question]:
    """Open questions of a fold that are not known yet, with paragraphs as MuSiQue gives them.

    A question's paragraphs are its gold passages and, up to twenty, those that BM25 ranks first for it, in an order by
    chance that every run repeats.

    Args:
        root: The data folder, with `passages/wiki_passages.jsonl.gz`.
        fold: The fold to keep.
        known: Questions that are there already.

    Raises:
        ResourceError: A file is missing or damaged.
    """
    names = {question.id for question in known}
    asked = [question for name in OPEN_FILES for question in _of_fold(root, name, fold) if question.id not in names]
    path = root / "passages" / "wiki_passages.jsonl.gz"
    if not path.is_file():
        raise ResourceError(f"The data folder {root} lacks passages/wiki_passages.jsonl.gz.")
    retriever = retriever_for(Corpus.load(path), "bm25")
    return [_with_paragraphs(question, retriever) for question in asked]


def _with_paragraphs(question: Question, retriever: PassageRetriever) -> Question:
    gold = set(question.gold_passages)
    held = {passage["id"]: passage for passage in retriever.passages if passage["id"] in gold}
    for position in retriever.rank(question.question, _PARAGRAPHS).positions:
        passage = retriever.passages[int(position)]
        if len(held) < _PARAGRAPHS:
            held.setdefault(passage["id"], passage)
    ordered = sorted(held.values(), key=lambda passage: chance(question.id, passage["id"]))
    return dataclasses.replace(question, passages=tuple(ordered))


def chance(*parts: str) -> float:
    """A number in [0, 1) that the parts alone decide: chance that every run repeats."""
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:6]) / 2**48
