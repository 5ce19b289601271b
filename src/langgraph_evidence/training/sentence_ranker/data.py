"""What the sentence ranker learns from: supporting sentences of HotpotQA, 2Wiki, Fool Me Twice and WiCE, and QNLI."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from langgraph_evidence.training.base import SENTENCE_FILES, Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.training.base import DataFolder, Row

TEXTS = 4
RankingTask = tuple[str, str, list[str], list[int]]
"""A ranking task: data set, query, all sentences, indexes of the good ones."""


def read_lists(data: DataFolder, folds: Iterable[int]) -> list[RankingTask]:
    """RankingTask tasks in which some sentences are good, and not all."""
    kept = frozenset(folds)
    lists = [_from_context(row) for name in SENTENCE_FILES for row in data.rows(name, kept) if row["sentence_split"]]
    lists += [_from_fm2(row) for name in ("fm2_dev", "fm2_test") for row in data.rows(f"verify/{name}.jsonl", kept)]
    lists += [_from_wice(row) for row in data.rows("attribution/wice_claim_dev.jsonl", kept)]
    return [item for item in lists if 0 < len(item[3]) < len(item[2])]


def _from_context(row: Row) -> RankingTask:
    facts = {(title, index) for title, index in row["supporting_facts"] or ()}
    sentences: list[str] = []
    good: list[int] = []
    for title, parts in row["context"]:
        for index, part in enumerate(parts):
            if (title, index) in facts:
                good.append(len(sentences))
            sentences.append(f"{title}: {part.strip()}")
    return "HotpotQA/2Wiki", row["question"], sentences, good


def _from_fm2(row: Row) -> RankingTask:
    evidence = row["retrieved_evidence"]
    good = [index for index, item in enumerate(evidence) if item["is_gold"]]
    return "FM2", row["claim"], [f"{row['title']}: {item['text']}" for item in evidence], good


def _from_wice(row: Row) -> RankingTask:
    good = sorted({index for chosen in row["supporting_sentences"] or () for index in chosen})
    return "WiCE", row["claim"], list(row["evidence"]), [index for index in good if index < len(row["evidence"])]


def make_groups(data: DataFolder, folds: Iterable[int], *, seed: int = 0, texts: int = TEXTS) -> list[Group]:
    """Groups of one good sentence and others of the same list, the ones most alike in words preferred; plus QNLI."""
    rng, groups, kept = random.Random(seed), [], frozenset(folds)
    for source, query, sentences, good in read_lists(data, kept):
        bad = [index for index in range(len(sentences)) if index not in set(good)]
        alike = sorted(bad, key=lambda index: -word_overlap(query, sentences[index]))
        for index in good:
            hard = alike[: 3 * (texts - 1)]
            others = rng.sample(hard, min(len(hard), texts - 1))
            groups.append(Group(source, query, (sentences[index], *(sentences[other] for other in others))))
    return groups + _qnli(data.rows("nli/qnli_dev.jsonl", kept), rng)


def _qnli(rows: Sequence[Row], rng: random.Random) -> list[Group]:
    """An answering sentence against one that does not answer, of the same group of rows where there is one."""
    bad: dict[str, list[str]] = {}
    for row in rows:
        if row["label"] != "entailment":
            bad.setdefault(row["group"], []).append(row["premise"])
    anything = [text for texts in bad.values() for text in texts]
    good = [row for row in rows if row["label"] == "entailment"] if anything else []
    return [
        Group("QNLI", row["hypothesis"], (row["premise"], rng.choice(bad.get(row["group"], anything)))) for row in good
    ]


def word_overlap(query: str, sentence: str) -> float:
    """Share of the query's words that the sentence holds."""
    asked, found = set(query.lower().split()), set(sentence.lower().split())
    return len(asked & found) / max(1, len(asked))


def shorten(item: RankingTask, count: int) -> RankingTask:
    """The same task over the good sentences and the `count` others most alike to the query in words."""
    source, query, sentences, good = item
    others = sorted(
        (index for index in range(len(sentences)) if index not in set(good)),
        key=lambda index: -word_overlap(query, sentences[index]),
    )[:count]
    kept = sorted([*good, *others])
    return source, query, [sentences[index] for index in kept], [kept.index(index) for index in good]
