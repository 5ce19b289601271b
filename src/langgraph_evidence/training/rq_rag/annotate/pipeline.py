"""Runs the rows of an annotation through its stages, many at the same time, and writes the records that are left."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from langgraph_evidence.concurrency import gather, run_sync
from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.evaluation.runner import HOPELESS
from langgraph_evidence.llm import LanguageModel
from langgraph_evidence.methods.rq_rag import prompts
from langgraph_evidence.methods.rq_rag.offline import RESPONDERS
from langgraph_evidence.models.base import write_aside
from langgraph_evidence.training.rq_rag.annotate.stages import Annotator
from langgraph_evidence.training.rq_rag.annotate.stored import STAGES, opened
from langgraph_evidence.training.rq_rag.options import MakeOptions
from langgraph_evidence.training.rq_rag.records import Record, Source, made_record, write_records

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel

    from langgraph_evidence.training.rq_rag.annotate.stored import Done, StageName, Stored
    from langgraph_evidence.training.rq_rag.drafts import Draft

    Report = Callable[[int, int], None]

_PROMPTS = (prompts.CHOOSE, *prompts.REFINE.values(), prompts.ANSWER)
RECORDS, COUNTS = "records.jsonl", "counts.json"
MADE, UNFINISHED = "made", "unfinished: the call failed, run it again"


@dataclass(frozen=True, kw_only=True)
class AnnotateOptions:
    """How rows are annotated.

    Args:
        original_share: Of rows that keep their original answer; none was best (section 4.4, figure 4).
        concurrency: Rows under way at the same time.
        make: Which rows, and how their evidence is found and shown.
    """

    original_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    concurrency: Annotated[int, Field(ge=1)] = 8
    make: MakeOptions = field(default_factory=MakeOptions)


def annotate(
    drafts: Sequence[Draft],
    model: BaseChatModel | str,
    out: Path,
    options: AnnotateOptions,
    *,
    report: Report | None = None,
) -> dict[str, int]:
    """Writes `out/records.jsonl` and `out/counts.json`; begun before, it goes on where it was.

    Args:
        drafts: The rows; of each its question, passages, gold passages and original answers are used.
        model: The annotator: a chat model, or a name for one.
        out: The folder of the stages and the records.
        options: How.
        report: Is told the rows that are through, and all.

    Returns:
        How many records were made, and how many rows were dropped, by stage and reason.

    Raises:
        InvalidInput: There are no rows.
        ResourceError: Another process works in the folder, or it was begun with another model, data or options.
        ModelError: The model refuses every call.
    """
    if not drafts:
        raise InvalidInput("There are no rows to annotate; check the data folder and the data sets.")
    asked = LanguageModel(model, max_concurrency=options.concurrency, responders=RESPONDERS)
    annotator = Annotator(asked, options.make, options.original_share)
    rows = {f"{draft.dataset}/{draft.row}": draft for draft in drafts}
    with opened(out, _identity(rows, asked.name, options)) as stored:
        through = partial(_through, annotator=annotator, stored=stored)
        run_sync(_all(rows, through, options.concurrency, report))
        records, counts = _finished(rows, stored, asked.name)
    write_records(out / RECORDS, records)
    write_aside(out / COUNTS, json.dumps(counts, indent=2).encode())
    return counts


def prompt_hashes() -> dict[str, str]:
    """The hash of each prompt's words, by its name."""
    return {prompt.name: _hash(prompt.messages) for prompt in _PROMPTS}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _identity(rows: dict[str, Draft], model: str, options: AnnotateOptions) -> dict[str, Any]:
    seen = {row: [draft.question, *draft.answers, *sorted(draft.gold)] for row, draft in rows.items()}
    told = asdict(options)
    # How many rows are under way changes no result.
    told.pop("concurrency")
    return {"model": model, "rows": _hash(seen), "prompts": prompt_hashes(), "options": told}


async def _all(
    rows: dict[str, Draft], through: Callable[[str, Draft], Awaitable[None]], concurrency: int, report: Report | None
) -> None:
    places, count = asyncio.Semaphore(concurrency), 0

    async def one(row: str, draft: Draft) -> None:
        nonlocal count
        async with places:
            await through(row, draft)
        count += 1
        if report is not None:
            report(count, len(rows))

    await gather([one(row, draft) for row, draft in rows.items()])


async def _through(row: str, draft: Draft, *, annotator: Annotator, stored: Stored) -> None:
    """Takes one row as far as it gets; a call that failed for the moment leaves the rest to the next run."""

    async def stage(name: StageName, make: Callable[[], Awaitable[Done]]) -> Done:
        known = stored.rows[name].get(row)
        return known if known is not None else stored.add(name, await make())

    try:
        typed = await stage("classify", lambda: annotator.classify(row, draft))
        if typed["dropped"]:
            return
        action = typed["value"]
        refined = await stage("refine", lambda: annotator.refine(row, draft, action))
        if refined["dropped"]:
            return
        searched = await stage("search", lambda: annotator.search(row, draft, action, refined["value"]))
        if not searched["dropped"]:
            await stage("answer", lambda: annotator.answer(row, draft, searched["value"]))
    except ModelError as error:
        if error.status in HOPELESS:
            raise


def _finished(rows: dict[str, Draft], stored: Stored, model: str) -> tuple[list[Record], dict[str, int]]:
    counts, records, hashes = Counter[str](), list[Record](), prompt_hashes()
    for row, draft in rows.items():
        known = {stage: stored.rows[stage][row] for stage in STAGES if row in stored.rows[stage]}
        dropped = [f"{stage}: {found['dropped']}" for stage, found in known.items() if found["dropped"]]
        if dropped or "answer" not in known:
            counts[dropped[0] if dropped else UNFINISHED] += 1
            continue
        counts[MADE] += 1
        used = {found["prompt"]: hashes[found["prompt"]] for found in known.values() if found["prompt"]}
        source = Source(dataset=draft.dataset, file=draft.file, row=draft.row, model=model, prompts=used)
        answer, steps = known["answer"]["value"], known["search"]["value"]
        records.append(made_record(draft, steps, answer, source))
    return records, dict(sorted(counts.items()))
