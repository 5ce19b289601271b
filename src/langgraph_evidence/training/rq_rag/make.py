"""The file of records that the data sets themselves allow, without an annotator: a deterministic pass over a folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base import write_aside
from langgraph_evidence.training.rq_rag.corpus import Corpus
from langgraph_evidence.training.rq_rag.records import write_records
from langgraph_evidence.training.rq_rag.searching import one_shot, refined, shown_passages
from langgraph_evidence.training.rq_rag.sources import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from langgraph_evidence.training.base import DataFolder
    from langgraph_evidence.training.rq_rag.drafts import Draft
    from langgraph_evidence.training.rq_rag.options import MakeOptions
    from langgraph_evidence.training.rq_rag.records import Record

FOLDS = frozenset(range(8))
"""Those that records are made of: 0 to 6 to learn from, 7 to measure."""
ALL = "all"
TOO_MANY_HOPS = "more hops than wanted"


def make_records(data: DataFolder, out: Path, options: MakeOptions) -> dict[str, dict[str, int]]:
    """Writes `out`, one record a line, and beside it what was made and dropped, by data set and reason.

    Both forms are made of the same rows: a row whose support no refined query finds is dropped from both.

    Raises:
        ResourceError: A file of the folder is damaged.
        InvalidInput: A data set is not known, or the folder has none of them.
    """
    counts: dict[str, Counter[str]] = {}
    records = [record for draft in drafts(data, options) if (record := _record(draft, options, counts)) is not None]
    if not records:
        raise InvalidInput(f"{data.root} has no row of {', '.join(SOURCES)} that records can be made of.")
    write_records(out, records)
    told = {name: dict(sorted(count.items())) for name, count in counts.items()}
    write_aside(out.with_name(f"{out.stem}.counts.json"), json.dumps(told | {"data": data.hashes}, indent=2).encode())
    return told


def drafts(data: DataFolder, options: MakeOptions) -> Iterator[Draft]:
    """The drafts of the wanted data sets' rows in folds 0 to 7, each question once, data set by data set.

    Raises:
        InvalidInput: A data set is not known.
    """
    corpus, seen = Corpus(data), set[str]()
    for dataset in _wanted(options.datasets):
        found = [draft for read in SOURCES[dataset] for draft in read(data, corpus, dataset) if draft.fold in FOLDS]
        for draft in _chosen(found, options.most):
            key = " ".join(draft.question.lower().split())
            if key not in seen:
                seen.add(key)
                yield draft


def _wanted(datasets: str) -> list[str]:
    names = list(SOURCES) if datasets == ALL else [name.strip() for name in datasets.split(",")]
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        raise InvalidInput(f"There is no data set {unknown[0]!r}. Data sets: {ALL}, or some of {', '.join(SOURCES)}.")
    return names


def _chosen(found: list[Draft], most: int) -> list[Draft]:
    """So many by the hash of their questions, which is the same on every machine; all where `most` is 0."""
    if not most or len(found) <= most:
        return found
    kept = sorted(found, key=lambda draft: hashlib.sha256(draft.question.encode()).digest())[:most]
    wanted = {(draft.file, draft.row) for draft in kept}
    return [draft for draft in found if (draft.file, draft.row) in wanted]


def _record(draft: Draft, options: MakeOptions, counts: dict[str, Counter[str]]) -> Record | None:
    count = counts.setdefault(draft.dataset, Counter())
    if options.max_hops and len(draft.hops) > options.max_hops:
        count[TOO_MANY_HOPS] += 1
        return None
    record = refined(draft, options, count)
    if record is None:
        return None
    count["made"] += 1
    return record if options.form == "refined" else one_shot(draft, options, passages=shown_passages(record))
