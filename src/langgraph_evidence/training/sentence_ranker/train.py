"""Trains the sentence ranker on supporting sentences of HotpotQA, 2Wiki, Fool Me Twice and WiCE, and on QNLI."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, save_adapter
from langgraph_evidence.models.sentence_ranker.model import HEAD, LABELS, RankerModel, SentenceRanker
from langgraph_evidence.training.base.data import TRAIN_FOLDS, TUNE_FOLD, DataFolder
from langgraph_evidence.training.base.groups import Group, group_step
from langgraph_evidence.training.base.intervals import with_intervals
from langgraph_evidence.training.base.loop import TrainOptions, TrainResult, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from langgraph_evidence.models.base.encoder import Encoder
    from langgraph_evidence.training.base.intervals import Means

LICENCES = (
    "HotpotQA CC BY-SA 4.0; "
    "2WikiMultihopQA Apache-2.0 and FoolMeTwice Apache-2.0, both with Wikipedia text CC BY-SA; "
    "WiCE ODC-BY with Wikipedia text CC BY-SA; "
    "QNLI (SQuAD) CC BY-SA 4.0"
)
OPTIONS = TrainOptions(epochs=1, learning_rate=1e-3, batch_tokens=2048, average=0.95, measure_every=150, patience=4)
RANK, MAX_TOKENS, TEXTS = 32, 112, 4
# A pass over all 9,194 would take almost twice as long.
GROUPS = 5000
# Lists of fold 7 that are measured to choose a checkpoint: all of them would take too long.
TUNE_LISTS = 160
MULTIHOP = (
    "multihop/hotpotqa_train.jsonl",
    "multihop/hotpotqa_dev.jsonl",
    "multihop/2wiki_train.jsonl",
    "multihop/2wiki_dev.jsonl",
)

Row = dict[str, Any]
Ranking = tuple[str, str, list[str], list[int]]
"""A ranking task: data set, query, all sentences, indexes of the good ones."""


def read_lists(data: DataFolder, folds: Iterable[int]) -> list[Ranking]:
    """Ranking tasks in which some sentences are good, and not all."""
    kept = frozenset(folds)
    lists = [_from_context(row) for name in MULTIHOP for row in data.rows(name, kept) if row["sentence_split"]]
    lists += [_from_fm2(row) for name in ("fm2_dev", "fm2_test") for row in data.rows(f"verify/{name}.jsonl", kept)]
    lists += [_from_wice(row) for row in data.rows("attribution/wice_claim_dev.jsonl", kept)]
    return [item for item in lists if 0 < len(item[3]) < len(item[2])]


def _from_context(row: Row) -> Ranking:
    facts = {(title, index) for title, index in row["supporting_facts"] or ()}
    sentences: list[str] = []
    good: list[int] = []
    for title, parts in row["context"]:
        for index, part in enumerate(parts):
            if (title, index) in facts:
                good.append(len(sentences))
            sentences.append(f"{title}: {part.strip()}")
    return "HotpotQA/2Wiki", row["question"], sentences, good


def _from_fm2(row: Row) -> Ranking:
    evidence = row["retrieved_evidence"]
    good = [index for index, item in enumerate(evidence) if item["is_gold"]]
    return "FM2", row["claim"], [f"{row['title']}: {item['text']}" for item in evidence], good


def _from_wice(row: Row) -> Ranking:
    good = sorted({index for chosen in row["supporting_sentences"] or () for index in chosen})
    return "WiCE", row["claim"], list(row["evidence"]), [index for index in good if index < len(row["evidence"])]


def make_groups(data: DataFolder, folds: Iterable[int], *, seed: int = 0, texts: int = TEXTS) -> list[Group]:
    """Groups of one good sentence and others of the same list, the ones most alike in words preferred; plus QNLI."""
    chooser, groups, kept = random.Random(seed), [], frozenset(folds)
    for source, query, sentences, good in read_lists(data, kept):
        bad = [index for index in range(len(sentences)) if index not in set(good)]
        alike = sorted(bad, key=lambda index: -word_overlap(query, sentences[index]))
        for index in good:
            hard = alike[: 3 * (texts - 1)]
            others = chooser.sample(hard, min(len(hard), texts - 1))
            groups.append(Group(source, query, (sentences[index], *(sentences[other] for other in others))))
    return groups + _qnli(data.rows("nli/qnli_dev.jsonl", kept), chooser)


def _qnli(rows: Sequence[Row], chooser: random.Random) -> list[Group]:
    """An answering sentence against one that does not answer, of the same group of rows where there is one."""
    bad: dict[str, list[str]] = {}
    for row in rows:
        if row["label"] != "entailment":
            bad.setdefault(row["group"], []).append(row["premise"])
    anything = [text for texts in bad.values() for text in texts]
    good = [row for row in rows if row["label"] == "entailment"] if anything else []
    return [
        Group("QNLI", row["hypothesis"], (row["premise"], chooser.choice(bad.get(row["group"], anything))))
        for row in good
    ]


def word_overlap(query: str, sentence: str) -> float:
    """Share of the query's words that the sentence holds."""
    asked, found = set(query.lower().split()), set(sentence.lower().split())
    return len(asked & found) / max(1, len(asked))


def list_rows(lists: Sequence[Ranking], score: Callable[[str, list[str]], Sequence[float]]) -> list[dict[str, float]]:
    """Average precision and recall at the number of good sentences, of each list."""
    rows = []
    for _, query, sentences, good in lists:
        scores = score(query, sentences)
        order = sorted(range(len(sentences)), key=lambda index: -scores[index])
        hits = np.array([index in set(good) for index in order])
        precision = (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean()
        rows.append({"precision": float(precision), "recall": float(hits[: len(good)].sum() / len(good))})
    return rows


def measure_lists(
    lists: Sequence[Ranking], score: Callable[[str, list[str]], Sequence[float]]
) -> dict[str, float | list[float]]:
    """Mean average precision over all lists (`score`) and of each data set, with intervals; recall of each data set."""
    rows = list_rows(lists, score)
    figures = with_intervals(rows, lambda means: {"score": means["precision"]}, of=["score"])
    for source in sorted({item[0] for item in lists}):
        own = [row for row, item in zip(rows, lists, strict=True) if item[0] == source]
        figures |= with_intervals(own, partial(_named, source), of=[source])
    return figures


def _named(source: str, means: Means) -> Means:
    return {source: means["precision"], f"{source} recall": means["recall"]}


def train_sentence_ranker(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Trains on folds 0-6, stops by lists of fold 7, and writes the adapter to `out`."""
    chooser = random.Random(options.seed)
    groups = make_groups(data, TRAIN_FOLDS, seed=options.seed)
    chooser.shuffle(groups)
    groups = groups[:GROUPS]
    held_out = [shorten(item, 12) for item in read_lists(data, [TUNE_FOLD])]
    chooser.shuffle(held_out)
    spec = AdapterSpec(HEAD, encoder.sha256, RANK, LABELS, MAX_TOKENS)
    torch.manual_seed(options.seed)
    adapter = Adapter(encoder, spec)
    lengths, step = group_step(encoder, adapter, groups, absolute=0.5)

    def measure(frozen: Adapter) -> dict[str, float]:
        rows = list_rows(held_out[:TUNE_LISTS], SentenceRanker(RankerModel(encoder, frozen)).score)
        return {"score": float(np.mean([row["precision"] for row in rows]))}

    result = train(
        adapter, lengths, step, measure, options=options, out=out, data=data.hashes, resume=resume, report=report
    )
    chosen = {"groups": GROUPS, "tune_lists": TUNE_LISTS}
    details = {
        "data": data.hashes,
        "licences": LICENCES,
        "options": asdict(options) | chosen,
        "figures": result.figures,
    }
    adapter.spec = replace(spec, details=details)
    save_adapter(adapter, out / f"{HEAD}.safetensors")
    return result


def shorten(item: Ranking, count: int) -> Ranking:
    """The same task over the good sentences and the `count` others most alike to the query in words."""
    source, query, sentences, good = item
    others = sorted(
        (index for index in range(len(sentences)) if index not in set(good)),
        key=lambda index: -word_overlap(query, sentences[index]),
    )[:count]
    kept = sorted([*good, *others])
    return source, query, [sentences[index] for index in kept], [kept.index(index) for index in good]
