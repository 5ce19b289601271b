"""ALCE's citation recall and precision (Gao, Yen, Yu and Chen 2023, arXiv 2305.14627, section 3).

A sentence is recalled when its citations together entail it. A citation is precise when its sentence is recalled and it
alone entails the sentence, or the others without it do not: one that says a part counts, one that may go does not. Both
are averaged within an answer, then over answers; an answer that is empty has no sentence and is left out, one without
citations scores 0 on both. A sentence counts its first three citations (`--at_most_citations 3`), and a short answer is
read behind its question (there: QAMPARI).

The authors' program (`compute_autoais`) has slips that are not repeated here: a citation `[0]` credits the last
document, the same one twice counts twice, and a sentence with a citation out of range leaves the denominator of
precision. Here citations point into evidence that a run holds, so none is out of range, and equal ones are one. Nor is
the text's own rule for precision used (all entail and all others do not): two citations that each suffice score 1 under
the program and 0 under that text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from langgraph_evidence.text import content_words, split_sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.models.entailment import Entailment
    from langgraph_evidence.types import Citation

    Pair = tuple[str, str]

MOST = 3
"""Citations of a sentence that count."""
# The best of 0.3 to 0.9 on folds 0-6 of FEVER, FEVEROUS, FM2, HoVer and WiCE; a weak judge all the same, of mean
# balanced accuracy 66.9.
_COVERED = 0.7


class Judge(Protocol):
    """Decides whether premises entail statements."""

    name: str

    def entails(self, pairs: Sequence[Pair]) -> list[bool]:
        """One decision a (premise, statement) pair, in their order."""
        ...


class ModelJudge:
    """An entailment model at its own threshold.

    Args:
        model: Any source that `Entailment.load` takes: the shipped head, TRUE's T5 in a folder, a server.
        name: What the figures are printed under.
    """

    def __init__(self, model: Entailment, name: str) -> None:
        self.model, self.name = model, name

    def entails(self, pairs: Sequence[Pair]) -> list[bool]:
        """See `Judge`."""
        return [bool(p >= self.model.threshold) for p in self.model.probabilities(pairs)] if pairs else []


class LexicalJudge:
    """A judge without a model: most words of the statement, and every number of it, stand in the premise."""

    name = "lexical check"

    def entails(self, pairs: Sequence[Pair]) -> list[bool]:
        """See `Judge`."""
        return [_covers(premise, statement) for premise, statement in pairs]


def _covers(premise: str, statement: str) -> bool:
    wanted, held = content_words(statement), content_words(premise)
    numbers = {word for word in words(statement) if word.isdigit()}
    return bool(wanted) and numbers <= set(words(premise)) and len(wanted & held) >= _COVERED * len(wanted)


class CitedSentence(NamedTuple):
    """A statement of an answer and the texts that are cited for it, at most `MOST` of them and none twice."""

    statement: str
    premises: tuple[str, ...]


def cited_sentences(
    question: str, answer: str, citations: Sequence[Citation], *, short: bool
) -> tuple[CitedSentence, ...]:
    """An answer cut into its sentences, each with the quotes whose span overlaps it.

    Args:
        question: What was asked.
        answer: The answer; an empty one has no sentence.
        citations: Of the answer, best first.
        short: Whether the answer is a phrase that only its question makes a statement.
    """
    if short and answer.strip():
        return (CitedSentence(f"{question} {answer}", _premises(citations)),)
    return tuple(
        CitedSentence(part.text, _premises(c for c in citations if c["start"] < part.end and part.start < c["end"]))
        for part in split_sentences(answer)
    )


def _premises(citations: Iterable[Citation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"Title: {c['title']}\n{c['quote']}" for c in citations))[:MOST]


@dataclass(frozen=True)
class CitationScores:
    """Recall and precision of each answer that is not empty.

    Args:
        recall: One value an answer.
        precision: Likewise.
        citations: How many citations were judged in all.
    """

    recall: tuple[float, ...]
    precision: tuple[float, ...]
    citations: int


def citation_scores(answers: Sequence[Sequence[CitedSentence]], judge: Judge) -> CitationScores:
    """Scores answers, each given as its cited sentences; the judge is asked three times, for all answers at once."""
    kept = [answer for answer in answers if answer]
    cited = [sentence for answer in kept for sentence in answer if sentence.premises]
    together = _decided(judge, [(_joined(s.premises), s.statement) for s in cited])
    held = [s for s in cited if len(s.premises) > 1 and together[_joined(s.premises), s.statement]]
    alone = _decided(judge, [(premise, s.statement) for s in held for premise in s.premises])
    rest = [(_without(s, n), s.statement) for s in held for n, p in enumerate(s.premises) if not alone[p, s.statement]]
    known = together | alone
    known |= _decided(judge, (pair for pair in rest if pair not in known))
    recall, precision = [], []
    for answer in kept:
        recall.append(sum(_recalled(s, known) for s in answer) / len(answer))
        precise = [value for s in answer for value in _precise(s, known)]
        precision.append(sum(precise) / len(precise) if precise else 0.0)
    return CitationScores(tuple(recall), tuple(precision), sum(len(s.premises) for s in cited))


def _decided(judge: Judge, pairs: Iterable[Pair]) -> dict[Pair, bool]:
    unique = list(dict.fromkeys(pairs))
    return dict(zip(unique, judge.entails(unique), strict=True))


def _joined(premises: Iterable[str]) -> str:
    return "\n".join(premises)


def _without(sentence: CitedSentence, place: int) -> str:
    return _joined(premise for number, premise in enumerate(sentence.premises) if number != place)


def _recalled(sentence: CitedSentence, known: dict[Pair, bool]) -> bool:
    return bool(sentence.premises) and known[_joined(sentence.premises), sentence.statement]


def _precise(sentence: CitedSentence, known: dict[Pair, bool]) -> list[bool]:
    recalled = _recalled(sentence, known)
    if not recalled or len(sentence.premises) == 1:
        return [recalled] * len(sentence.premises)
    return [
        known[premise, sentence.statement] or not known[_without(sentence, place), sentence.statement]
        for place, premise in enumerate(sentence.premises)
    ]
