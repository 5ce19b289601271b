"""What each trained head is worth to FuRePA: assessor, query scorer and reader on and off, over the same questions.

    python benches/furepa_ablation.py --data DIR [--fold 7] [--limit 60] [--set KEY=VALUE] [--json FILE]

DIR is laid out as the project's data. Each question is asked over its own paragraphs, by the offline model. Each
variant stands over one-shot retrieval of as many passages as it kept, answered in the same way. Without the reader the
model answers by the overlap of words. Variants share caches, so seconds would say nothing (see benches/latency.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from langgraph_evidence import models
from langgraph_evidence.errors import EvidenceError, InvalidInput
from langgraph_evidence.evaluation.datasets import DataSet, join_data, load_data
from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation
from langgraph_evidence.evaluation.intervals import paired_difference
from langgraph_evidence.evaluation.report import signed
from langgraph_evidence.evaluation.tables import markdown_table
from langgraph_evidence.llm.offline.answers import find_answer
from langgraph_evidence.llm.offline.evidence import bridges
from langgraph_evidence.llm.offline.questions import analyse
from langgraph_evidence.methods import Method, get_method
from langgraph_evidence.methods.furepa import FurepaSettings, create_furepa
from langgraph_evidence.models import default_encoder, default_query_scorer
from langgraph_evidence.models.query_scorer import SimilarityScorer
from langgraph_evidence.models.reader import Reading
from langgraph_evidence.settings import parse_assignments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from langgraph_evidence.evaluation.report import Report, ReportRow
    from langgraph_evidence.models.query_scorer import QueryScorer

SETS: dict[str, tuple[str, ...]] = {
    "HotpotQA": ("hotpotqa_dev", "hotpotqa_train"),
    "2WikiMultihopQA": ("2wiki_dev", "2wiki_train"),
    "MuSiQue": ("musique_dev", "musique_train"),
}
METRICS = {"em": "EM", "f1": "F1", "passage_recall": "recall", "passage_all_found": "all gold"}
COSTS = {"passages": "passages", "calls": "calls"}


@dataclass(frozen=True)
class Variant:
    """One row of the table: which of the local models work."""

    assess: bool = True
    trained: bool = True
    reader: bool = True


BARE = "assessor off, no reader"
OFF = "assessor off"
UNTRAINED = "assessor, untrained scorer"
TRAINED = "assessor, trained scorer"
UNREAD = "assessor, trained scorer, no reader"
VARIANTS = {
    BARE: Variant(assess=False, reader=False),
    OFF: Variant(assess=False),
    UNTRAINED: Variant(trained=False),
    TRAINED: Variant(),
    UNREAD: Variant(reader=False),
}
COMPARED = ((TRAINED, OFF), (UNTRAINED, OFF), (TRAINED, UNTRAINED), (TRAINED, UNREAD), (TRAINED, BARE))


class OverlapReader:
    """Answers without a trained model: yes, the first side of a choice, or the new name nearest to the question."""

    def read(self, question: str, passages: Sequence[str], *, must_answer: bool = False) -> Reading:  # noqa: ARG002 - as in Reader.read
        """As `Reader.read`; none where no name is new."""
        asked, evidence = analyse(question), tuple(passages)
        if asked.yes_no:
            return Reading("yes", "yes", -1, 0, 0, 1.0, 1.0)
        names = sorted(bridges(asked, evidence), key=lambda bridge: -bridge.features["near"])
        if not asked.sides and not names:
            return Reading("none", "", -1, 0, 0, 1.0, 0.0)
        text = asked.sides[0] if asked.sides else names[0].name
        place = next((index for index, line in enumerate(evidence) if text in line), 0)
        return Reading("span", text, place, 0, 0, 1.0, 1.0)


@contextmanager
def unread() -> Iterator[None]:
    """The offline model without its reader; what it has read before is forgotten on both sides."""
    find_answer.cache_clear()
    with mock.patch.object(models, "default_reader", OverlapReader):
        yield
    find_answer.cache_clear()


def read_set(folder: Path, files: tuple[str, ...], options: argparse.Namespace) -> DataSet:
    """The first questions of a data set's fold, out of the files that have some."""
    parts = []
    for name in files:
        try:
            parts.append(load_data(folder / "multihop" / f"{name}.jsonl.gz", fold=options.fold))
        except InvalidInput as error:
            print(f"{name}: {error}", file=sys.stderr)
    joined = join_data(" + ".join(part.name for part in parts), parts)
    return DataSet(
        joined.name, joined.questions[: options.limit], joined.sha256, fold=options.fold, limit=options.limit
    )


def furepa_with(scorer: QueryScorer) -> Method:
    """The method with a scorer of the bench's choice."""
    return dataclasses.replace(
        get_method("furepa"),
        create=lambda parts, settings: create_furepa(
            parts.model, parts.retriever, settings=settings, query_scorer=scorer
        ),
    )


def measure(data: DataSet, variant: Variant, options: argparse.Namespace) -> Report:
    """FuRePA and one-shot retrieval of as many passages, in one variant."""
    scorer = default_query_scorer() if variant.trained else SimilarityScorer(default_encoder())
    reading: AbstractContextManager[None] = nullcontext() if variant.reader else unread()
    with reading:
        return run_evaluation(
            furepa_with(scorer),
            data,
            settings=FurepaSettings(**{**options.settings, "assess": variant.assess}),
            options=EvaluationOptions(concurrency=options.concurrency),
        )


def table(reports: dict[str, dict[str, Report]]) -> str:
    """A line a data set and variant, each followed by its one-shot retrieval."""
    lines = []
    for data, variants in reports.items():
        for name, report in variants.items():
            ours, once = report.rows
            lines += [_cells(data, name, ours), _cells(data, "-- one-shot, as many", once)]
    return markdown_table(["", "", "n", *METRICS.values(), *COSTS.values()], lines, left=2)


def _cells(data: str, name: str, row: ReportRow) -> list[str]:
    shares = [f"{100 * row.metrics[key].mean:.1f}" for key in METRICS]
    return [data, name, str(row.questions), *shares, *(f"{row.metrics[key].mean:.2f}" for key in COSTS)]


def differences(reports: dict[str, dict[str, Report]]) -> str:
    """Pairs of variants over all questions of all data sets: points and their 95% intervals."""
    lines = []
    for ours, theirs in COMPARED:
        pairs = [(variants[ours].rows[0], variants[theirs].rows[0]) for variants in reports.values()]
        lines.append([f"{ours} less {theirs}", *(_difference(pairs, key) for key in METRICS)])
    for name in VARIANTS:
        pairs = [(variants[name].rows[0], variants[name].rows[1]) for variants in reports.values()]
        lines.append([f"{name} less one-shot", *(_difference(pairs, key) for key in METRICS)])
    return markdown_table(["all data sets", *METRICS.values()], lines)


def _difference(pairs: Sequence[tuple[ReportRow, ReportRow]], key: str) -> str:
    scores = [
        (one[key], other[key])
        for ours, theirs in pairs
        for one, other in zip(ours.scores, theirs.scores, strict=True)
        if key in one and key in other
    ]
    return signed(paired_difference([one for one, _ in scores], [other for _, other in scores]))


def main() -> int:
    """Measures every variant on every data set and prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=7)
    parser.add_argument("--limit", type=int, default=60, help="the first questions of each data set")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of every variant")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    reports: dict[str, dict[str, Report]] = {}
    try:
        options.settings = parse_assignments(FurepaSettings, options.set)
        for data, files in SETS.items():
            questions, reports[data] = read_set(options.data, files, options), {}
            for name, variant in VARIANTS.items():
                reports[data][name] = measure(questions, variant, options)
                print(f"{data}: {name} done", file=sys.stderr)
    except EvidenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{table(reports)}\n\n{differences(reports)}")
    failed = sum(row.failed for variants in reports.values() for report in variants.values() for row in report.rows)
    if failed:
        print(f"\n{failed} runs failed; they count as wrong answers without evidence.")
    if options.json:
        whole: dict[str, Any] = {
            data: {name: report.to_json() for name, report in variants.items()} for data, variants in reports.items()
        }
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
