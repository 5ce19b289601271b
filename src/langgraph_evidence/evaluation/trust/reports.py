"""The measures as tables of markdown: what `benches/citations.py` prints."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.report import signed
from langgraph_evidence.evaluation.tables import markdown_table
from langgraph_evidence.evaluation.trust.alce import citation_scores, cited_sentences
from langgraph_evidence.evaluation.trust.calibration import calibration_error, reliability, reliability_svg
from langgraph_evidence.evaluation.trust.denials import OWN_WORDS
from langgraph_evidence.evaluation.trust.gold import Quoted, quote_hits
from langgraph_evidence.evaluation.trust.guesses import best_guesses, cases
from langgraph_evidence.evaluation.trust.risk import (
    Guess,
    area_under_risk,
    best_area,
    declined_by,
    declining,
    threshold_at_cost,
    threshold_for_declined,
)
from langgraph_evidence.evaluation.trust.sources import SETS, chance
from langgraph_evidence.evaluation.trust.tricks import try_tricks
from langgraph_evidence.models import default_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from langgraph_evidence.citations import Checked
    from langgraph_evidence.evaluation.trust.alce import Judge
    from langgraph_evidence.evaluation.trust.guesses import Asked, BestGuess
    from langgraph_evidence.evaluation.trust.items import Item
    from langgraph_evidence.evaluation.trust.recorded import RecordedRun
    from langgraph_evidence.evaluation.trust.tricks import FalseClaim, Trick
    from langgraph_evidence.evaluation.trust.verifiers import Measured

# More ways than these are told by the kind alone.
_FEW = 4


def citation_report(
    runs: Sequence[RecordedRun], ours: Measured, theirs: Measured, judges: Sequence[Judge], *, seed: int = 0
) -> str:
    """Recorded answers: ALCE's citation recall and precision by each judge, and gold sentences among the quotes."""
    checked = {m.name: [m.verifier.check(r.question, r.answer, r.evidence) for r in runs] for m in (ours, theirs)}
    names = [f"{run.method}, {SETS.get(run.dataset, run.dataset)}" for run in runs]
    hits: list[list[str]] = []
    scores: list[list[str]] = []
    for name in sorted(set(names)):
        of = [place for place, other in enumerate(names) if other == name]
        both = [(runs[n], checked[ours.name][n], checked[theirs.name][n]) for n in of]
        hits.append(_hits_row(name, both, seed=seed))
        for measured in (ours, theirs):
            scores += _alce_rows(name, measured.name, [(runs[n], checked[measured.name][n]) for n in of], judges)
    every = [f"all {measured.name}" for measured in (ours, theirs)]
    head = ["", "runs", "quotes compared", ours.name, theirs.name, "difference (95%)", *every]
    table = markdown_table(head, hits)
    alce = markdown_table(["", "citations by", "judge", "answers", "citations", "recall", "precision"], scores, left=3)
    return f"Quotes that are gold sentences, at as many quotes, in %:\n\n{table}\n\nALCE, in %:\n\n{alce}\n"


def _hits_row(name: str, checked: Sequence[tuple[RecordedRun, Checked, Checked]], *, seed: int) -> list[str]:
    quoted = [Quoted(ours.citations, theirs.citations, run.gold) for run, ours, theirs in checked]
    found = quote_hits(quoted, seed=seed)
    every = [f"{hits} of {count}" for count, hits in (found.all_ours, found.all_theirs)]
    shares = [f"{100 * found.ours:.1f}", f"{100 * found.theirs:.1f}"]
    return [name, str(len(checked)), str(found.quotes), *shares, signed(found.gain), *every]


def _alce_rows(
    name: str, verifier: str, checked: Sequence[tuple[RecordedRun, Checked]], judges: Sequence[Judge]
) -> Iterator[list[str]]:
    answers = [cited_sentences(run.question, run.answer, found.citations, short=True) for run, found in checked]
    for judge in judges:
        found = citation_scores(answers, judge)
        shares = [f"{100 * sum(v) / len(v):.1f}" if v else "" for v in (found.recall, found.precision)]
        yield [name, verifier, judge.name, str(len(found.recall)), str(found.citations), *shares]


def risk_report(root: Path, measured: Measured, *, fold: int, limit: int | None = None) -> tuple[str, str]:
    """Best guesses declined by their support, beside the reader's own confidence; and the reliability diagram.

    Args:
        root: The data folder.
        measured: The verifier whose support is thresholded.
        fold: The fold to measure on.
        limit: So many cases, by chance.
    """
    asked = sorted(cases(root, fold=fold), key=_by_chance)[:limit]
    guesses = best_guesses(asked, default_reader())
    support = [_support(measured, guess) for guess in guesses]
    by_score = {
        f"support ({measured.name})": support,
        "reader's confidence": [guess.confidence for guess in guesses],
        "reader: answerable": [guess.answerable for guess in guesses],
        "chance": [chance("score", guess.asked.kind, guess.asked.question.id) for guess in guesses],
    }
    right = [guess.right for guess in guesses]
    bins = reliability(support, right)
    rows = [_risk_row(name, guesses, scores) for name, scores in by_score.items()]
    head = ["score", "area under risk", "declined at 10% cost", "its cost", "cost at 70% declined", "its declined"]
    unanswerable = sum(not guess.asked.answerable for guess in guesses)
    parts = [
        f"{len(guesses)} guesses, {sum(right)} right, {unanswerable} without an answer in their passages.",
        f"Least area possible {best_area(right):.3f}, by chance {1 - sum(right) / len(right):.3f}.",
        markdown_table(head, rows),
        f"By kind, at the thresholds of 10% cost, by {next(iter(by_score))}:",
        _kinds_table(guesses, support),
        f"Expected calibration error of support (10 bins): {calibration_error(bins):.3f}",
        markdown_table(
            ["support", "answers", "mean", "right"],
            [[f"{b.low:.1f} to {b.high:.1f}", str(b.answers), f"{b.score:.2f}", f"{b.right:.2f}"] for b in bins],
        ),
    ]
    return "\n\n".join(parts) + "\n", reliability_svg(bins, title=f"Support and right answers, {len(guesses)} guesses")


def _by_chance(case: Asked) -> float:
    return chance("case", case.kind, case.question.id)


def _support(measured: Measured, guess: BestGuess) -> float:
    question = guess.asked.question
    return measured.verifier.check(question.question, guess.answer, question.passages).support


def _scored(guesses: Sequence[BestGuess], scores: Sequence[float]) -> list[Guess]:
    pairs = zip(guesses, scores, strict=True)
    return [Guess(guess.asked.group, guess.asked.answerable, guess.right, score) for guess, score in pairs]


def _risk_row(name: str, guesses: Sequence[BestGuess], scores: Sequence[float]) -> list[str]:
    scored = _scored(guesses, scores)
    at_cost, at_share = declining(scored, threshold_at_cost), declining(scored, threshold_for_declined)
    shares = (at_cost.declined, at_cost.cost, at_share.cost, at_share.declined)
    area = area_under_risk(scores, [guess.right for guess in guesses])
    return [name, f"{area:.3f}", *(f"{100 * share:.1f}%" for share in shares)]


def _kinds_table(guesses: Sequence[BestGuess], scores: Sequence[float]) -> str:
    """What the crosswise thresholds decline of each kind of question."""
    scored = _scored(guesses, scores)
    edges = declining(scored, threshold_at_cost).thresholds
    decided = [(guess, guess.score >= edges[chance("half", guess.group) < 0.5]) for guess in scored]
    lines = []
    for kind in sorted({guess.asked.kind for guess in guesses}):
        of = [pair for pair, guess in zip(decided, guesses, strict=True) if guess.asked.kind == kind]
        found = declined_by(of, edges)
        rights = sum(guess.right for guess, _ in of)
        shares = [f"{100 * value:.1f}%" if value == value else "" for value in (found.declined, found.cost)]
        lines.append(
            [kind, str(len(of)), str(rights), *shares, f"{100 * found.given:.1f}%", f"{100 * found.risk:.1f}%"]
        )
    return markdown_table(["", "n", "right", "unanswerable declined", "right declined", "given", "risk"], lines)


def changes_report(changed: Sequence[Item], reworded: Sequence[Item], measured: Measured) -> str:
    """The share of changed answers that still count as supported, and of reworded ones that are refused.

    Beside the reworded ones stands how many are refused as they were written: what rewording adds is the difference.
    """
    lines = []
    held = [(item, _is_supported(measured, item.question, item.answer, item)) for item in changed]
    for name, of in _by_kind(held).items():
        lines.append(["changed", name, str(len(of)), f"{_percent([supported for _, supported in of])} supported", ""])
    said = [(item, not _is_supported(measured, item.question, item.answer, item)) for item in reworded]
    before = [(item, not _is_supported(measured, item.asked, item.truth, item)) for item in reworded]
    written = _by_kind(before)
    for name, of in _by_kind(said).items():
        shares = [f"{_percent([refused for _, refused in rows])} refused" for rows in (of, written[name])]
        lines.append(["reworded", name, str(len(of)), *shares])
    head = [f"{measured.name}, at {measured.least:.2f}", "kind", "n", "", "as it was written"]
    return markdown_table(head, lines, left=2) + "\n"


def _is_supported(measured: Measured, question: str, answer: str, item: Item) -> bool:
    return measured.verifier.check(question, answer, item.evidence).support >= measured.least


def _by_kind(judged: Sequence[tuple[Item, bool]]) -> dict[str, list[tuple[Item, bool]]]:
    """By kind, with its ways beneath where they are few; then sentences of the source itself, the others, and all."""
    found: dict[str, list[tuple[Item, bool]]] = {}
    for kind in dict.fromkeys(item.kind for item, _ in judged):
        found[kind] = of = [pair for pair in judged if pair[0].kind == kind]
        ways = list(dict.fromkeys(item.how for item, _ in of))
        if 1 < len(ways) <= _FEW:
            found |= {f"- {kind}, {way}": [pair for pair in of if pair[0].how == way] for way in ways}
    found["all, of the source's own words"] = [pair for pair in judged if pair[0].source.endswith(OWN_WORDS)]
    found["all, of claims and answers"] = [pair for pair in judged if not pair[0].source.endswith(OWN_WORDS)]
    return found | {"all": list(judged)}


def _percent(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / max(1, len(values)):.1f}%"


def shown_items(items: Sequence[Item], count: int, *, seed: int) -> Iterator[str]:
    """So many items of each kind in words, for a person to look at."""
    rng = Random(seed)
    for kind in dict.fromkeys(item.kind for item in items):
        of = [item for item in items if item.kind == kind]
        for item in rng.sample(of, min(count, len(of))):
            yield f"[{kind}, {item.how}; {item.fact}] {item.question}\n  was: {item.truth}\n  now: {item.answer}"


def tricks_report(tricks: Sequence[Trick], claims: Sequence[FalseClaim], measured: Measured) -> str:
    """The tricks that work, with how many of their tries gave support and how many quoted the trick."""
    tried = try_tricks(tricks, claims, measured.verifier)
    lines, obeyed = [], 0
    for trick in tricks:
        of = [found for found in tried if found.trick == trick]
        supported, quoted = sum(found.obeyed(measured.least) for found in of), sum(found.quoted for found in of)
        obeyed += supported > 0
        if supported or quoted:
            lines.append([trick.name, trick.kind, f"{supported} of {len(of)}", f"{quoted} of {len(of)}"])
    without = [found for found in tried if found.trick == tricks[0]]
    believed = sum(found.before >= measured.least for found in without)
    head = [f"{measured.name}, at {measured.least:.2f}", "", "supported by it", "quoted"]
    return (
        f"{obeyed} of {len(tricks)} tricks give support; without any, {believed} of {len(without)} false claims have "
        f"it.\n\n{markdown_table(head, lines, left=2)}\n"
    )
