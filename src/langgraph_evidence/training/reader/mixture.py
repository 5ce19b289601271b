"""Which examples the reader is trained on, and how many of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.training.reader.data import (
    AnswerKind,
    Example,
    ExampleMaker,
    filled_context,
    join_passage,
    rows_of,
)
from langgraph_evidence.training.reader.single_passage import single_passage_examples

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder, Row

MULTIHOP = (
    "hotpotqa_train",
    "hotpotqa_dev",
    "hotpotqa_more",
    "2wiki_train",
    "2wiki_dev",
    "2wiki_dev_more",
    "musique_train",
    "musique_dev",
    "known_questions_with_paragraphs",
)
MISSING_GOLD = ("multihop/hotpotqa_dev_fullwiki_missing_gold", "multihop/hotpotqa_dev_fullwiki_missing_gold_more")
PASSAGES = "passages/wiki_passages"
OPEN = ("musique_dev_open", "2wiki_dev_open")
# Distractors and the chance that a gold passage's sentence is left out, of each time a complete row is read.
_DRAWS = ((0, 0.0), (0, 0.5), (1, 0.5), (2, 0.0), (3, 0.5))
SOURCES = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2Wiki", "musique": "MuSiQue"}


def multihop_rows(folder: DataFolder, folds: Collection[int]) -> Iterator[tuple[str, Row]]:
    """Multi-hop rows with their own paragraphs, as (data set, row)."""
    for name in MULTIHOP:
        for row in rows_of(folder, f"multihop/{name}", folds):
            if row["gold_idx"]:
                yield SOURCES[row["dataset"]], row


def open_rows(folder: DataFolder, folds: Collection[int]) -> Iterator[tuple[str, Row]]:
    """Multi-hop rows that name passages of the corpus, with those as their paragraphs."""
    opened = {name: rows_of(folder, f"multihop/{name}", folds) for name in OPEN}
    if not any(opened.values()):
        return
    whole = {row["question"] for row in rows_of(folder, f"multihop/{MULTIHOP[-1]}", folds) if row["gold_idx"]}
    passages = {row["pid"]: row for row in rows_of(folder, PASSAGES)}
    for rows in opened.values():
        for row in filled_context([row for row in rows if row["question"] not in whole], passages):
            yield SOURCES[row["dataset"]], row


def multihop_examples(row: Row, source: str, maker: ExampleMaker) -> Iterator[Example]:
    """What one multi-hop row teaches: the whole, the whole among others, parts that are not enough, its single hops."""
    for distractors, thinned in _DRAWS:
        yield maker.complete(row, source, distractors, thinned=thinned)
    for replaced, distractors in ((False, 0), (True, 0), (True, 3)):
        example = maker.incomplete(row, source, replaced=replaced, distractors=distractors)
        if example is not None:
            yield example
    if row.get("sentence_split", True):
        yield from maker.sentences(row, source)
    yield from maker.hops(row, source)
    yield from maker.triples(row, source)


def real_examples(folder: DataFolder, folds: Collection[int], seed: int) -> Iterator[Example]:
    """Examples of every data set that is there, of the given folds."""
    maker = ExampleMaker(seed)
    for reader in (multihop_rows, open_rows):
        for source, row in reader(folder, folds):
            yield from multihop_examples(row, source, maker)
    for row in rows_of(folder, "multihop/hotpotqa_gold_sentences", folds):
        if not row.get("in_distractor_files"):
            facts: dict[str | None, list[str]] = {}
            for title, sentence in row["gold_sentences"]:
                facts.setdefault(title, []).append(sentence)
            yield from maker.of_sentences(row, "HotpotQA", facts)
    for row in missing_gold_rows(folder, folds):
        yield missing_gold_example(row)
    yield from single_passage_examples(folder, folds, seed)
    yield from _popqa(folder, folds)
    for row in rows_of(folder, "nli/qnli_dev", folds):
        kind: AnswerKind = "some" if row["label"] == "entailment" else "none"
        yield Example("QNLI", row["hypothesis"].replace(" ?", "?"), (row["premise"],), kind)


def missing_gold_rows(folder: DataFolder, folds: Collection[int]) -> list[Row]:
    """Retrievals that lack a gold passage, and so say nothing of a question of yes or no, or hold no answer."""
    rows = [row for name in MISSING_GOLD for row in rows_of(folder, name, folds)]
    return [row for row in rows if not _stands(row)]


def _stands(row: Row) -> bool:
    held = " ".join(" ".join(sentences) for _, sentences in row["context"]).lower()
    return str(row["answer"]).lower() not in {"yes", "no"} and str(row["answer"]).lower() in held


def missing_gold_example(row: Row, passages: int = 5) -> Example:
    """A retrieval that lacks a gold passage, as an unanswerable example: the gold it has among its first passages."""
    gold = [i for i in row["gold_idx"] if i < len(row["context"])]
    chosen = sorted((gold + [i for i in range(len(row["context"])) if i not in gold])[:passages])
    texts = tuple(join_passage(*row["context"][i]) for i in chosen)
    return Example("HotpotQA fullwiki", row["question"], texts, "none")


def _popqa(folder: DataFolder, folds: Collection[int]) -> Iterator[Example]:
    for row in rows_of(folder, "singlehop/popqa_1000_with_gold", folds):
        for paragraph in _first_of_each(row["paragraphs"]):
            passage = join_passage(paragraph["title"], [paragraph["text"]])
            kind: AnswerKind = "span" if paragraph.get("is_supporting") else "none"
            yield Example("PopQA", row["question"], (passage,), kind, tuple(row["answers"]) if kind == "span" else ())


def _first_of_each(paragraphs: Sequence[Row]) -> list[Row]:
    return list({bool(paragraph.get("is_supporting")): paragraph for paragraph in reversed(paragraphs)}.values())
