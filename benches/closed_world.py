"""The trained heads and FuRePA on worlds that nothing was trained on: fictional, so that what is right was read.

    python benches/closed_world.py [--seeds 101 102 103] [--size 1000] [--count 100] [--model M]

The entailment head judges claims by the gold passages of their evidence, the reader answers from the gold passages and
must decline when one is missing, and FuRePA is asked over each question's own ten paragraphs, beside one-shot
retrieval of as many.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from langgraph_evidence.evaluation.answers import score_answer
from langgraph_evidence.evaluation.closed_world import ClosedWorld
from langgraph_evidence.evaluation.datasets import DataSet, join_data, load_data
from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation
from langgraph_evidence.methods import get_method
from langgraph_evidence.models import default_reader
from langgraph_evidence.models.entailment import Entailment, word_overlap
from langgraph_evidence.training.base import auroc, balanced_accuracy
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.world.claims import Claim


def entailment_row(claims: Sequence[Claim]) -> str:
    """Balanced accuracy and AUROC of supported against the rest, with word overlap beside them."""
    pairs = [(_premise(claim), claim.claim) for claim in claims]
    model = Entailment.load()
    found = model.probabilities(pairs)
    truth = np.array([claim.label == "supported" for claim in claims])
    overlap = np.array([word_overlap(*pair) for pair in pairs])
    accuracy = balanced_accuracy(found >= model.threshold, truth)
    return (
        f"entailment: {len(claims)} claims, balanced accuracy {accuracy:.3f}, AUROC {auroc(found, truth):.3f}; "
        f"word overlap AUROC {auroc(overlap, truth):.3f}"
    )


def _premise(claim: Claim) -> str:
    told = {sentence.passage_id for sentence in claim.evidence}
    return " ".join(passage_line(passage) for passage in claim.passages if passage["id"] in told)


def reader_row(questions: Sequence[Question]) -> str:
    """Answer F1 from the gold passages, and how often evidence is told apart from evidence with a passage missing."""
    reader, scores, told = default_reader(), [], []
    for question in questions:
        gold = [passage_line(part) for part in question.passages if part["id"] in question.gold_passages]
        reading = reader.read(question.question, gold, must_answer=True)
        scores.append(score_answer(reading.text, question.answers).f1)
        told.append(reader.read(question.question, gold).kind != "none")
        if len(gold) > 1:
            told.append(reader.read(question.question, gold[1:]).kind == "none")
    return (
        f"reader: {len(questions)} questions, F1 from gold passages {100 * np.mean(scores):.1f}, "
        f"answerable or not {100 * np.mean(told):.1f}% of {len(told)}"
    )


def furepa_rows(data: DataSet, options: argparse.Namespace) -> list[str]:
    """FuRePA and one-shot retrieval of as many passages."""
    method = get_method("furepa")
    report = run_evaluation(
        method, data, model=options.model, settings=method.settings(), options=EvaluationOptions(concurrency=2)
    )
    lines = []
    for row in report.rows:
        figures = {name: 100 * row.metrics[name].mean for name in ("em", "f1", "passage_recall", "passage_all_found")}
        shown = ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
        lines.append(f"{row.name}: {row.questions} questions, {shown}")
    (differences,) = report.differences().values()
    recall: Any = differences["passage_recall"]
    gain = f"{100 * recall.mean:+.1f} ({100 * recall.low:+.1f} to {100 * recall.high:+.1f})"
    return [*lines, f"recall beyond one-shot retrieval: {gain}"]


def main() -> int:
    """Prints the figures over all seeds together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--model", default="offline")
    options = parser.parse_args()
    names = [f"closed-world:seed={seed},size={options.size},count={options.count}" for seed in options.seeds]
    worlds = [ClosedWorld(seed=seed, size=options.size, count=options.count) for seed in options.seeds]
    data = join_data(", ".join(names), [load_data(name) for name in names])
    print(entailment_row([claim for world in worlds for claim in world.claims()]))
    print(reader_row(data.questions))
    print("\n".join(furepa_rows(data, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
