"""Trains the sentence ranker on supporting sentences of HotpotQA, 2Wiki, Fool Me Twice and WiCE, and on QNLI."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.models.adapters import Adapter, AdapterSpec, PairModel, save_adapter
from langgraph_evidence.models.sentence_ranker import HEAD, LABELS, SentenceRanker
from langgraph_evidence.training.data import TRAIN_FOLDS, TUNE_FOLD, DataFolder
from langgraph_evidence.training.groups import Group, group_step
from langgraph_evidence.training.loop import TrainOptions, TrainResult, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from langgraph_evidence.models.encoder import Encoder

LICENCES = (
    "HotpotQA CC BY-SA 4.0; "
    "2WikiMultihopQA Apache-2.0 and FoolMeTwice Apache-2.0, both with Wikipedia text CC BY-SA; "
    "WiCE ODC-BY with Wikipedia text CC BY-SA; "
    "QNLI (SQuAD) CC BY-SA 4.0"
)
OPTIONS = TrainOptions(epochs=1, learning_rate=1e-3, batch_tokens=2048, measure_every=90, patience=4)
RANK, MAX_TOKENS, TEXTS = 32, 112, 4
MULTIHOP = (
    "multihop/hotpotqa_train.jsonl",
    "multihop/hotpotqa_dev.jsonl",
    "multihop/2wiki_train.jsonl",
    "multihop/2wiki_dev.jsonl",
)

Row = dict[str, Any]


def read_lists(data: DataFolder, folds: Iterable[int]) -> list[tuple[str, str, list[str], list[int]]]:
    """Ranking tasks: data set, query, all sentences, indexes of the good ones (some, never all)."""
    kept = frozenset(folds)
    lists = [_from_context(row) for name in MULTIHOP for row in data.rows(name, kept) if row["sentence_split"]]
    lists += [_from_fm2(row) for name in ("fm2_dev", "fm2_test") for row in data.rows(f"verify/{name}.jsonl", kept)]
    lists += [_from_wice(row) for row in data.rows("attribution/wice_claim_dev.jsonl", kept)]
    return [item for item in lists if 0 < len(item[3]) < len(item[2])]


def _from_context(row: Row) -> tuple[str, str, list[str], list[int]]:
    facts = {(title, index) for title, index in row["supporting_facts"] or ()}
    sentences: list[str] = []
    good: list[int] = []
    for title, parts in row["context"]:
        for index, part in enumerate(parts):
            if (title, index) in facts:
                good.append(len(sentences))
            sentences.append(f"{title}: {part.strip()}")
    return "HotpotQA/2Wiki", row["question"], sentences, good


def _from_fm2(row: Row) -> tuple[str, str, list[str], list[int]]:
    evidence = row["retrieved_evidence"]
    good = [index for index, item in enumerate(evidence) if item["is_gold"]]
    return "FM2", row["claim"], [f"{row['title']}: {item['text']}" for item in evidence], good


def _from_wice(row: Row) -> tuple[str, str, list[str], list[int]]:
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


def measure_lists(
    lists: Sequence[tuple[str, str, list[str], list[int]]], score: Callable[[str, list[str]], Sequence[float]]
) -> dict[str, float]:
    """Mean average precision and recall at the number of good sentences, of each data set and over all (`score`)."""
    figures: dict[str, list[float]] = {}
    for source, query, sentences, good in lists:
        scores = score(query, sentences)
        order = sorted(range(len(sentences)), key=lambda index: -scores[index])
        hits = np.array([index in set(good) for index in order])
        precision = float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())
        for name in (source, "score"):
            figures.setdefault(name, []).append(precision)
        figures.setdefault(f"{source} recall", []).append(float(hits[: len(good)].sum() / len(good)))
    return {name: float(np.mean(values)) for name, values in figures.items()}


def train_sentence_ranker(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    limit: int = 0,
    tune: int = 60,
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Trains on folds 0-6, stops by fold 7 (`tune` lists of it), and writes the adapter to `out`.

    `limit` groups are used, or all with 0.
    """
    chooser = random.Random(options.seed)
    groups = make_groups(data, TRAIN_FOLDS, seed=options.seed)
    chooser.shuffle(groups)
    groups = groups[: limit or None]
    held_out = [shorten(item, 12) for item in read_lists(data, [TUNE_FOLD])]
    chooser.shuffle(held_out)
    spec = AdapterSpec(HEAD, encoder.sha256, RANK, LABELS, MAX_TOKENS)
    torch.manual_seed(options.seed)
    adapter = Adapter(encoder, spec)
    lengths, step = group_step(encoder, adapter, groups, absolute=0.5)

    def measure(frozen: Adapter) -> dict[str, float]:
        ranker = SentenceRanker(PairModel(encoder, frozen))
        return measure_lists(held_out[:tune], ranker.score)

    result = train(
        adapter, lengths, step, measure, options=options, out=out, data=data.hashes, resume=resume, report=report
    )
    details = {"data": data.hashes, "licences": LICENCES, "options": asdict(options), "figures": result.figures}
    adapter.spec = replace(spec, details=details)
    save_adapter(adapter, out / f"{HEAD}.safetensors")
    return result


def shorten(item: tuple[str, str, list[str], list[int]], count: int) -> tuple[str, str, list[str], list[int]]:
    """The same task over the good sentences and the `count` others most alike to the query in words."""
    source, query, sentences, good = item
    others = sorted(
        (index for index in range(len(sentences)) if index not in set(good)),
        key=lambda index: -word_overlap(query, sentences[index]),
    )[:count]
    kept = sorted([*good, *others])
    return source, query, [sentences[index] for index in kept], [kept.index(index) for index in good]
