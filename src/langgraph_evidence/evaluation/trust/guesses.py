"""Best guesses for questions that their passages answer and for those that they do not: what declining is measured on.

Answerable: the multi-hop questions over their own paragraphs and the answerable ones of SQuAD 2.0. Unanswerable: the
multi-hop questions whose own paragraphs lack one gold paragraph, HotpotQA's whose retrieved ones do, and SQuAD 2.0's.
The guess is the reader's best answer, however unsure (`must_answer`). One to an unanswerable question is wrong, also
where it is the gold answer by chance: nothing that was given shows it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.evaluation.answers import score_answer
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.trust.facts import fold_rows
from langgraph_evidence.evaluation.trust.sources import MISSING_FILES, SETS, chance, own_questions
from langgraph_evidence.types import Passage, content_id, passage_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from langgraph_evidence.models.reader import Reader


class Asked(NamedTuple):
    """A question over given passages.

    Args:
        kind: What it is a case of, for tables.
        group: What is kept together when cases are halved.
        question: The question, its answers and the passages that are given.
        answerable: Whether those answer it.
    """

    kind: str
    group: str
    question: Question
    answerable: bool


class BestGuess(NamedTuple):
    """The reader's best answer to a case.

    Args:
        asked: The case.
        answer: The answer.
        right: Whether it is right and the passages answer the question.
        confidence: How likely the reader finds this very answer.
        answerable: How likely it finds that the passages answer the question at all.
    """

    asked: Asked
    answer: str
    right: bool
    confidence: float
    answerable: float


def cases(root: Path, *, fold: int) -> list[Asked]:
    """All cases of a fold, answerable and not.

    Args:
        root: The data folder.
        fold: The fold to keep.

    Raises:
        ResourceError: A file is missing or damaged.
    """
    own = own_questions(root, fold=fold)
    missing = own_questions(root, fold=fold, files=MISSING_FILES)
    return [
        *(Asked(SETS[question.dataset], question.id, question, answerable=True) for question in own),
        *(Asked(f"{SETS[q.dataset]} less one gold", q.id, _less_one(q), answerable=False) for q in own if _whole(q)),
        *(Asked(f"{SETS[q.dataset]}, gold not retrieved", q.id, q, answerable=False) for q in missing),
        *_squad(root, fold),
    ]


def _whole(question: Question) -> bool:
    held = {passage["id"] for passage in question.passages}
    return bool(question.gold_passages) and held.issuperset(question.gold_passages)


def _less_one(question: Question) -> Question:
    """The question without one gold paragraph, by chance."""
    gold = sorted(question.gold_passages)
    gone = gold[int(chance("gone", question.id) * len(gold))]
    kept = tuple(passage for passage in question.passages if passage["id"] != gone)
    return dataclasses.replace(question, passages=kept)


def _squad(root: Path, fold: int) -> Iterator[Asked]:
    for row in fold_rows(root, "reading", "squad2_dev", fold):
        title, text = str(row.get("title") or "").replace("_", " "), str(row["context"])
        passage = Passage(id=content_id(title, text), title=title, text=text)
        answers = tuple(map(str, row["answers"])) or ("",)
        question = Question(str(row["id"]), str(row["question"]), answers, "squad2", passages=(passage,))
        kind = "SQuAD 2.0" if row["answerable"] else "SQuAD 2.0, unanswerable"
        yield Asked(kind, str(row["group"]), question, bool(row["answerable"]))


def best_guesses(asked: Sequence[Asked], reader: Reader) -> list[BestGuess]:
    """The reader's best answer to each case; a case without any text has an empty one."""
    given = [(case.question.question, [passage_line(p) for p in case.question.passages]) for case in asked]
    readings = reader.read_batch(given, must_answer=True)
    return [
        BestGuess(case, reading.text, _right(case, reading.text), reading.score, reading.answerable)
        for case, reading in zip(asked, readings, strict=True)
    ]


def _right(case: Asked, answer: str) -> bool:
    question = case.question
    return case.answerable and score_answer(answer, question.answers, style=question.style).em == 1
