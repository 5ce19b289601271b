"""Gold supporting sentences by their places, and how many of a verifier's quotes are among them.

HotpotQA and 2WikiMultihopQA name supporting sentences (`supporting_facts`). MuSiQue names the gold paragraph and the
answer of each step of its decomposition: a gold sentence is then one of that paragraph that holds the answer, all of
them where several do, and a step whose paragraph holds it nowhere has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from langgraph_evidence.evaluation.intervals import Interval, edges, resampled_means
from langgraph_evidence.text import holds, split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.types import Citation, Passage

# Two ways of cutting sentences may disagree on a closing mark, or on "Dr.": so much of the shorter has to be shared.
_SHARED = 0.9


class GoldSpan(NamedTuple):
    """A gold sentence: the passage and the characters of its text."""

    passage_id: str
    start: int
    end: int


def gold_spans(question: Question) -> tuple[GoldSpan, ...]:
    """The gold sentences among a question's own paragraphs; none where the data set names none."""
    found = _named(question) if question.supporting_facts else _of_steps(question)
    return tuple(dict.fromkeys(found))


def _named(question: Question) -> Iterator[GoldSpan]:
    wanted = set(question.supporting_facts)
    for passage in question.passages:
        # Two paragraphs may share a title; the gold one is known by its id.
        if passage["id"] not in question.gold_passages:
            continue
        for index, (start, end) in enumerate(_places(passage, question.sentences.get(passage["id"], ()))):
            if (passage["title"], index) in wanted:
                yield GoldSpan(passage["id"], start, end)


def _places(passage: Passage, sentences: Sequence[str]) -> Iterator[tuple[int, int]]:
    end = 0
    for sentence in sentences:
        start = passage["text"].find(sentence.strip(), end)
        if start < 0:
            return
        end = start + len(sentence.strip())
        yield start, end


def _of_steps(question: Question) -> Iterator[GoldSpan]:
    passages = {passage["id"]: passage for passage in question.passages}
    for number, step in enumerate(question.steps, start=1):
        passage = passages.get(step.passage or "")
        if passage is None:
            continue
        answers = {step.answer, *(question.answers if number == len(question.steps) else ())}
        for sentence in split_sentences(passage["text"]):
            if any(holds(sentence.text, answer) for answer in answers):
                yield GoldSpan(passage["id"], sentence.start, sentence.end)


def is_gold(citation: Citation, gold: Sequence[GoldSpan]) -> bool:
    """Whether a quote contains a gold sentence or lies in one."""
    return any(span.passage_id == citation["passage_id"] and _same(citation, span) for span in gold)


def _same(citation: Citation, span: GoldSpan) -> bool:
    shared = min(citation["quote_end"], span.end) - max(citation["quote_start"], span.start)
    shorter = min(citation["quote_end"] - citation["quote_start"], span.end - span.start)
    return shorter > 0 and shared >= _SHARED * shorter


class QuoteHits(NamedTuple):
    """Two verifiers' quotes at as many quotes a question, each its best ones.

    Args:
        quotes: How many of each were compared.
        ours: The share of ours that are gold sentences.
        theirs: The share of theirs.
        gain: Ours less theirs over the quotes of resampled questions, with its 95% interval.
        all_ours: How many quotes ours gave in all, and how many of them are gold.
        all_theirs: Likewise.
    """

    quotes: int
    ours: float
    theirs: float
    gain: Interval
    all_ours: tuple[int, int]
    all_theirs: tuple[int, int]


class Quoted(NamedTuple):
    """One run's quotes by two verifiers, best first, and its gold sentences."""

    ours: Sequence[Citation]
    theirs: Sequence[Citation]
    gold: Sequence[GoldSpan]


def quote_hits(runs: Sequence[Quoted], *, seed: int = 0) -> QuoteHits:
    """Compares quotes of the runs with gold sentences; a run for which either gives none compares none."""
    rows = []
    for run in runs:
        count = min(len(run.ours), len(run.theirs))
        rows.append((_hits(run.ours[:count], run.gold), _hits(run.theirs[:count], run.gold), count))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    ours, theirs, quotes = columns.sum(axis=0)
    return QuoteHits(
        quotes=int(quotes),
        ours=ours / quotes if quotes else float("nan"),
        theirs=theirs / quotes if quotes else float("nan"),
        gain=_gain(columns, seed=seed),
        all_ours=(sum(len(run.ours) for run in runs), sum(_hits(run.ours, run.gold) for run in runs)),
        all_theirs=(sum(len(run.theirs) for run in runs), sum(_hits(run.theirs, run.gold) for run in runs)),
    )


def _hits(citations: Sequence[Citation], gold: Sequence[GoldSpan]) -> int:
    return sum(is_gold(citation, gold) for citation in citations)


def _gain(columns: NDArray[np.float64], *, seed: int) -> Interval:
    """Of a ratio of sums, so questions are resampled with their quotes."""
    compared = columns[columns[:, 2] > 0]
    if not len(compared):
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    ours, theirs, quotes = resampled_means(compared, seed=seed).T
    low, high = edges((ours - theirs) / quotes)
    mean = float((compared[:, 0] - compared[:, 1]).sum() / compared[:, 2].sum())
    return Interval(mean, low, high, len(compared))
