"""Whether answers may be trusted: citations, declining, changed and reworded answers, by any verifier.

    python benches/citations.py record  --data DIR --out FILE [--method furepa] [--model offline] [--limit N]
    python benches/citations.py replay  FILE ... [--verifier verified] [--judge SOURCE]
    python benches/citations.py risk    --data DIR [--limit N] [--svg FILE]
    python benches/citations.py changes --data DIR [--each 400] [--reworded 2000] [--show N]
    python benches/citations.py tricks

DIR is laid out as the project's data; all is made from fold 7. `record` asks HotpotQA, 2WikiMultihopQA and MuSiQue
over each question's own paragraphs, in an order by chance, and keeps whole runs in a file; a stopped recording goes on
where it was. `replay` checks the answers of such files: ALCE's citation recall and precision, and how many quotes are
gold sentences, beside lexical ones at as many quotes. `risk` declines best guesses by their support. `changes` counts
answers with one fact changed that are still supported, and right ones said anew that are refused. `tricks` names the
passages of `tests/data/citation_tricks.jsonl` that a verifier obeys.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import EvidenceError
from langgraph_evidence.evaluation.runner import graph_answerer
from langgraph_evidence.evaluation.trust.gold import gold_spans
from langgraph_evidence.evaluation.trust.recorded import RecordedRun, read_runs, record, sampled
from langgraph_evidence.evaluation.trust.reports import (
    changes_report,
    citation_report,
    risk_report,
    shown_items,
    tricks_report,
)
from langgraph_evidence.evaluation.trust.sets import changed_items, reworded_items
from langgraph_evidence.evaluation.trust.sources import open_questions, own_questions
from langgraph_evidence.evaluation.trust.tricks import read_claims, read_tricks
from langgraph_evidence.evaluation.trust.verifiers import open_verifier
from langgraph_evidence.llm.provider import open_model
from langgraph_evidence.methods import Components, get_method
from langgraph_evidence.retrieval import retriever_for

if TYPE_CHECKING:
    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.trust.alce import Judge
    from langgraph_evidence.evaluation.trust.verifiers import Measured


def opened(options: argparse.Namespace) -> Measured:
    """The verifier that the options name."""
    return open_verifier(options.verifier, entailment=options.entailment, least=options.min_support)


def record_runs(options: argparse.Namespace) -> None:
    """Runs a method and keeps whole runs."""
    own = own_questions(options.data, fold=options.fold)
    asked = [*own, *open_questions(options.data, fold=options.fold, known=own)]
    questions = sampled([q for q in asked if gold_spans(q)], seed=options.seed)[: options.limit]
    print(
        f"{len(asked)} questions in fold {options.fold}, {len(questions)} with gold sentences to be asked", flush=True
    )
    method, chat = get_method(options.method), open_model(options.model)

    def make(question: Question) -> Any:
        parts = Components(chat, retriever_for(question.passages, "bm25"))
        return method.create(parts, method.settings()).compile()

    started = time.perf_counter()

    def tell(run: RecordedRun) -> None:
        print(f"{time.perf_counter() - started:.0f} s: {run.id}, {run.stopped}, {run.answer[:60]!r}", flush=True)

    answerer = graph_answerer(make, key=method.input_key)
    run_sync(record(questions, answerer, options.out, method=method.name, model=options.model, on_run=tell))


def replay_runs(options: argparse.Namespace) -> None:
    """Checks recorded answers."""
    from langgraph_evidence.evaluation.trust.alce import LexicalJudge, ModelJudge
    from langgraph_evidence.models.entailment import Entailment

    chooser = ModelJudge(Entailment.load(), "the entailment head, which chose the citations itself")
    others = [ModelJudge(Entailment.load(source), source) for source in options.judge]
    judges: list[Judge] = [*others, chooser, LexicalJudge()]
    ours, theirs = opened(options), open_verifier("lexical")
    for path in options.files:
        runs = read_runs(path)[: options.limit]
        print(citation_report(runs, ours, theirs, judges, seed=options.seed), flush=True)


def decline(options: argparse.Namespace) -> None:
    """Declines best guesses by their support."""
    report, picture = risk_report(options.data, opened(options), fold=options.fold, limit=options.limit)
    print(report)
    if options.svg:
        options.svg.write_text(picture, encoding="utf-8")


def change(options: argparse.Namespace) -> None:
    """Checks answers with one fact changed, and right ones said anew."""
    changed = changed_items(options.data, fold=options.fold, each=options.each, seed=options.seed)
    reworded = reworded_items(options.data, fold=options.fold, count=options.reworded, seed=options.seed)
    print(f"{len(changed)} changed answers, {len(reworded)} reworded ones", flush=True)
    if options.show:
        print("\n".join(shown_items([*changed, *reworded], options.show, seed=options.seed)))
        return
    for measured in (open_verifier("lexical"), opened(options)):
        print(changes_report(changed, reworded, measured), flush=True)


def trick(options: argparse.Namespace) -> None:
    """Tries passages that order to believe."""
    folder = Path(__file__).parents[1] / "tests" / "data"
    tricks, claims = read_tricks(folder / "citation_tricks.jsonl"), read_claims(folder / "citation_trick_cases.jsonl")
    print(tricks_report(tricks, claims, opened(options)), flush=True)


def main() -> int:
    """Runs one of the commands."""
    options = _options()
    torch.set_num_threads(options.threads)
    machine = f"{platform.machine()}, torch {torch.__version__}, {options.threads} threads"
    print(f"seed {options.seed}, {machine}", flush=True)
    try:
        options.command(options)
    except EvidenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    made = {"record": record_runs, "replay": replay_runs, "risk": decline, "changes": change, "tricks": trick}
    parts = {name: commands.add_parser(name) for name in made}
    for name, part in parts.items():
        part.set_defaults(command=made[name])
        part.add_argument("--seed", type=int, default=0)
        part.add_argument("--threads", type=int, default=1)
        part.add_argument("--limit", type=int, help="so many questions or runs, by chance")
        if name == "tricks":
            pass
        elif name == "replay":
            part.add_argument("files", type=Path, nargs="+")
        else:
            part.add_argument("--data", type=Path, required=True)
            part.add_argument("--fold", type=int, default=7)
        if name != "record":
            part.add_argument("--verifier", default="verified", choices=["verified", "lexical"])
            part.add_argument("--entailment", help="a source of Entailment.load in the place of the shipped head")
            part.add_argument("--min-support", type=float, help="the support that counts; else that of a run")
    parts["record"].add_argument("--out", type=Path, required=True)
    parts["record"].add_argument("--method", default="furepa")
    parts["record"].add_argument("--model", default="offline")
    parts["replay"].add_argument("--judge", action="append", default=[], help="a further judge, as Entailment.load")
    parts["risk"].add_argument("--svg", type=Path, help="where the reliability diagram is written")
    parts["changes"].add_argument("--each", type=int, default=400)
    parts["changes"].add_argument("--reworded", type=int, default=2000)
    parts["changes"].add_argument("--show", type=int, help="prints so many items of each kind instead")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
