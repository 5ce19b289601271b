"""FuRePA beside one-shot retrieval of as many passages: the README's table.

    python benches/furepa.py --data DIR [--fold 7] [--limit N] [--model M] [--index INDEX] [--runs RUNS] [--json FILE]

DIR is laid out as the project's data: `multihop/hotpotqa_dev.jsonl.gz` and so on. Each question is asked over its own
paragraphs. With an index of `passages/wiki_passages.jsonl.gz` the open questions are asked over all of them as well.
Every outcome is kept under `--runs`, so that a stopped bench goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import EvidenceError, InvalidInput
from langgraph_evidence.evaluation.datasets import DataSet, join_data, load_data
from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation
from langgraph_evidence.evaluation.report import signed
from langgraph_evidence.evaluation.tables import markdown_table
from langgraph_evidence.methods import get_method
from langgraph_evidence.settings import parse_assignments

if TYPE_CHECKING:
    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.report import Report

SETS: dict[str, tuple[str, ...]] = {
    "HotpotQA": ("hotpotqa_dev", "hotpotqa_train"),
    "2WikiMultihopQA": ("2wiki_dev", "2wiki_train"),
    "MuSiQue": ("musique_dev", "musique_train"),
}
OPEN_SETS: dict[str, tuple[str, ...]] = {
    "2WikiMultihopQA, open": ("2wiki_dev_open",),
    "MuSiQue, open": ("musique_dev_open",),
}
COLUMNS = {"em": "EM", "f1": "F1", "cover_em": "cover-EM", "passage_recall": "recall", "passage_all_found": "all gold"}
COSTS = {"passages": "passages", "calls": "calls", "tokens": "tokens", "seconds": "seconds"}


def read(folder: Path, files: tuple[str, ...], options: argparse.Namespace) -> DataSet:
    """The questions of one data set, out of the files that have some of the fold."""
    parts = []
    for name in files:
        path = folder / "multihop" / f"{name}.jsonl.gz"
        try:
            parts.append(load_data(path, fold=options.fold))
        except InvalidInput as error:
            print(f"{name}: {error}", file=sys.stderr)
    joined = join_data(" + ".join(part.name for part in parts), parts)
    return DataSet(
        joined.name, joined.questions[: options.limit], joined.sha256, fold=options.fold, limit=options.limit
    )


def measure(data: DataSet, options: argparse.Namespace, *, index: Path | None = None) -> Report:
    """One data set's report, over the questions' own paragraphs or over an index."""
    method = get_method("furepa")
    settings = method.settings(**parse_assignments(method.settings, options.set))
    done = 0

    def tell(name: str, _outcome: Outcome) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            print(f"\r{data.name}: {name}, {done} of {2 * len(data.questions)}   ", end="", file=sys.stderr)

    report = run_evaluation(
        method,
        data,
        model=options.model,
        settings=settings,
        options=EvaluationOptions(index=index, kind=options.kind, concurrency=options.concurrency, runs=options.runs),
        progress=tell,
    )
    print(f"\n{data.name}: {len(data.questions)} questions done", file=sys.stderr)
    return report


def table(reports: dict[str, Report]) -> str:
    """All data sets in one table, with the paired difference in evidence recall under each."""
    lines = []
    for name, report in reports.items():
        for row in report.rows:
            shares = [f"{100 * row.metrics[key].mean:.1f}" for key in COLUMNS]
            costs = [f"{row.metrics[key].mean:.1f}" for key in COSTS]
            lines.append([name, row.name, str(row.questions), *shares, *costs])
        (differences,) = report.differences().values()
        shown = [signed(x) for x in map(differences.get, COLUMNS) if x]
        lines.append([name, "difference (95%)", "", *shown, *[""] * len(COSTS)])
    return markdown_table(["", "", "n", *COLUMNS.values(), *COSTS.values()], lines, left=2)


def main() -> int:
    """Measures the three data sets in turn and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=7)
    parser.add_argument("--limit", type=int, help="the first questions of each data set")
    parser.add_argument("--model", default="offline")
    parser.add_argument("--kind", default="bm25", choices=["bm25", "dense", "hybrid"])
    parser.add_argument("--index", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    reports: dict[str, Report] = {}
    try:
        for name, files in SETS.items():
            reports[name] = measure(read(options.data, files, options), options)
        for name, files in OPEN_SETS.items() if options.index else ():
            reports[name] = measure(read(options.data, files, options), options, index=options.index)
    except EvidenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(table(reports))
    for name, report in reports.items():
        for note in report.notes():
            if "failed" in note or "without" in note:
                print(f"\n{name}: {note}")
    if options.json:
        whole: dict[str, Any] = {name: report.to_json() for name, report in reports.items()}
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
