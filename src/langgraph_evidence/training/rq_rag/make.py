"""The file of records that the data sets themselves allow, without an annotator: a deterministic pass over a folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langgraph_evidence.models.base import write_aside
from langgraph_evidence.training.base import FILES
from langgraph_evidence.training.rq_rag.drafts import multihop_draft
from langgraph_evidence.training.rq_rag.records import check_form, write_records
from langgraph_evidence.training.rq_rag.searching import Dropped, SearchOptions, one_shot, refined, shown_passages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from langgraph_evidence.training.base import DataFolder
    from langgraph_evidence.training.rq_rag.drafts import Draft
    from langgraph_evidence.training.rq_rag.records import Form, Record

_BREAK = "questions/break_qdmr_highlevel_dev.jsonl"
MULTIHOP = {
    "HotpotQA": (*FILES["HotpotQA"], "multihop/hotpotqa_more.jsonl"),
    "2Wiki": (*FILES["2Wiki"], "multihop/2wiki_dev_more.jsonl"),
    "MuSiQue": FILES["MuSiQue"],
}
"""The files of each data set; one that a folder lacks is left out."""
FOLDS = frozenset(range(8))
"""Those that records are made of: 0 to 6 to learn from, 7 to measure."""


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """Which records are made.

    Args:
        form: refined, or one_shot for the rival that is trained on the same rows.
        max_hops: Questions of more hops are left out; 0 takes all.
        search: How their evidence is found and shown.
    """

    form: Form = "refined"
    max_hops: int = 0
    search: SearchOptions = field(default_factory=SearchOptions)


def make_records(data: DataFolder, out: Path, options: MakeOptions) -> dict[str, dict[str, int]]:
    """Writes `out`, one record a line, and `out` with `.counts.json`: what was made and dropped, by data set and reason.

    Raises:
        ResourceError: A file of the folder is damaged, or none is there.
        InvalidInput: There is no such form.
    """
    check_form(options.form)
    counts: dict[str, Counter[str]] = {}
    records = list(_made(drafts(data, FOLDS), options, counts))
    write_records(out, records)
    told = {name: dict(sorted(count.items())) for name, count in counts.items()}
    write_aside(out.with_name(f"{out.name}.counts.json"), json.dumps(told | {"data": data.hashes}, indent=2).encode())
    return told


def _made(found: Iterable[Draft], options: MakeOptions, counts: dict[str, Counter[str]]) -> Iterator[Record]:
    for draft in found:
        count = counts.setdefault(draft.dataset, Counter())
        dropped = Dropped(count)
        if options.max_hops and len(draft.hops) > options.max_hops:
            count["more hops than wanted"] += 1
            continue
        record = refined(draft, options.search, dropped)
        if record is None:
            continue
        if options.form == "one_shot":
            record = one_shot(draft, options.search, passages=shown_passages(record))
        count["made"] += 1
        yield record


def drafts(data: DataFolder, folds: Iterable[int]) -> Iterator[Draft]:
    """The drafts of all rows of the folds, each question once."""
    seen: set[str] = set()
    for draft in _multihop(data, frozenset(folds)):
        key = " ".join(draft.question.lower().split())
        if key not in seen:
            seen.add(key)
            yield draft


def _multihop(data: DataFolder, folds: frozenset[int]) -> Iterator[Draft]:
    known = data.rows(_BREAK, folds) if data.find(_BREAK) else []
    steps = {row["orig_id"]: row["steps"] for row in known}
    for dataset, files in MULTIHOP.items():
        for file in [name for name in files if data.find(name)]:
            for row in data.rows(file, folds):
                draft = multihop_draft(dataset, file, row, steps.get(row["id"], ()))
                if draft is not None:
                    yield draft
