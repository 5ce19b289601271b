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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder, Row

MULTIHOP = ("hotpotqa_train", "hotpotqa_dev", "2wiki_train", "2wiki_dev", "musique_train", "musique_dev")
MISSING_GOLD = "multihop/hotpotqa_dev_fullwiki_missing_gold"
PASSAGES = "passages/wiki_passages"
OPEN = ("musique_dev_open", "2wiki_dev_open")
SOURCES = {"hotpotqa": "HotpotQA", "2wiki": "2Wiki", "musique": "MuSiQue"}


def multihop_rows(folder: DataFolder, folds: Collection[int]) -> Iterator[tuple[str, Row]]:
    """Multi-hop rows with their own paragraphs, as (data set, row)."""
    for name in MULTIHOP:
        for row in rows_of(folder, f"multihop/{name}", folds):
            yield SOURCES[name.split("_")[0]], row


def open_rows(folder: DataFolder, folds: Collection[int]) -> Iterator[tuple[str, Row]]:
    """Multi-hop rows that name passages of the corpus, with those as their paragraphs."""
    opened = {name: rows_of(folder, f"multihop/{name}", folds) for name in OPEN}
    if not any(opened.values()):
        return
    passages = {row["pid"]: row for row in rows_of(folder, PASSAGES)}
    for name, rows in opened.items():
        for row in filled_context(rows, passages):
            yield SOURCES[name.split("_")[0]], row


def multihop_examples(row: Row, source: str, maker: ExampleMaker) -> Iterator[Example]:
    """What one multi-hop row teaches: the whole, the whole among others, parts that are not enough, its single hops."""
    for distractors in (0, 2):
        yield maker.complete(row, source, distractors)
    for replaced, distractors in ((False, 0), (True, 0), (True, 2)):
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
    for row in rows_of(folder, MISSING_GOLD, folds):
        yield missing_gold_example(row)
    yield from _popqa(folder, folds)
    for row in rows_of(folder, "nli/qnli_dev", folds):
        kind: AnswerKind = "some" if row["label"] == "entailment" else "none"
        yield Example("QNLI", row["hypothesis"].replace(" ?", "?"), (row["premise"],), kind)


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
