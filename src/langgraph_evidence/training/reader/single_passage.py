"""Single-passage reading sets (SQuAD and its kin) as examples for the reader, cut to the sentences near the answer.

A shorter passage costs less and teaches as much; what is cut is drawn, so that the answer stands anywhere in it. A
sixth of the answerable ones also give an unanswerable one: sentences of the same paragraph without the answer.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from langgraph_evidence.text import split_sentences
from langgraph_evidence.training.reader.data import Example, join_passage, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder, Row
    from langgraph_evidence.training.reader.data import AnswerKind

SETS = {
    "adversarial_qa_train": "AdversarialQA",
    "adversarial_qa_validation": "AdversarialQA",
    "squad1_train_part": "SQuAD",
    "squad1_train_part_untitled": "SQuAD",
    "squad1_dev": "SQuAD",
    "squad2_train_part": "SQuAD 2",
    "squad2_dev": "SQuAD 2",
    "nq_open_oracle_dev": "NQ",
    "boolq_validation": "BoolQ",
    "drop_dev": "DROP",
}
"""Files under reading/ and the data set each is of."""
_WITHOUT = 1 / 6
_SECOND = 1 / 5
# Sentences of a cut; short ones cost less, the long one keeps whole paragraphs in view.
_CUTS = (2, 3, 3, 4, 6)


def single_passage_examples(folder: DataFolder, folds: Collection[int], seed: int) -> Iterator[Example]:
    """The examples of every reading set that is there, of the given folds."""
    rng = random.Random(seed)
    for source, rows in _sets(folder, folds):
        for row in rows:
            yield from _of_row(row, source, rng.choice(rows), rng)


def whole_passages(folder: DataFolder, folds: Collection[int], seed: int, limit: int) -> Iterator[Example]:
    """Rows of each set, whole, at most `limit` of a set: what the reader is measured on."""
    rng = random.Random(seed)
    by_source: dict[str, list[Example]] = {}
    for source, rows in _sets(folder, folds):
        by_source.setdefault(source, []).extend(made for row in rows if (made := _whole(row, source)) is not None)
    for examples in by_source.values():
        yield from rng.sample(examples, min(limit, len(examples)))


def _sets(folder: DataFolder, folds: Collection[int]) -> Iterator[tuple[str, list[Row]]]:
    for name, source in SETS.items():
        rows = rows_of(folder, f"reading/{name}", folds)
        # Answerable rows of SQuAD 2 are rows of SQuAD 1.1.
        yield source, [row for row in rows if source != "SQuAD 2" or not row["answerable"]]


def _whole(row: Row, source: str) -> Example | None:
    sentences = _sentences(row)
    told = _told(row, sentences)
    return told and Example(source, _question(row), (join_passage(_title(row), sentences),), told[0], told[1])


def _sentences(row: Row) -> list[str]:
    return [quote.text for quote in split_sentences(row["context"])]


def _of_row(row: Row, source: str, other: Row, rng: random.Random) -> Iterator[Example]:
    sentences = _sentences(row)
    title, question = _title(row), _question(row)
    told = _told(row, sentences)
    if told is None:
        return
    kind, answers, at = told
    passages = [join_passage(title, _near(sentences, at, rng))]
    if rng.random() < _SECOND and other["context"] != row["context"]:
        near = _near(_sentences(other), None, rng)
        passages.insert(rng.randrange(2), join_passage(_title(other), near))
    yield Example(source, question, tuple(passages), kind, answers)
    if kind == "span" and rng.random() < _WITHOUT:
        rest = [text for text in sentences if not any(answer.lower() in text.lower() for answer in answers)]
        if rest:
            yield Example(source, question, (join_passage(title, _near(rest, None, rng)),), "none")


def _told(row: Row, sentences: Sequence[str]) -> tuple[AnswerKind, tuple[str, ...], int | None] | None:
    """Kind, answers and the answer's sentence; None where the answer stands nowhere, or needs counting."""
    if not row["answerable"]:
        return "none", (), None
    answers = tuple(row["answers"])
    if row["dataset"] == "boolq":
        return ("yes" if answers[0] == "yes" else "no"), answers, None
    if row.get("answer_type") in {"number", "spans"} or row["answer_starts"][0] is None:
        return None
    end = 0
    for place, sentence in enumerate(sentences):
        end = row["context"].find(sentence, end) + len(sentence)
        if row["answer_starts"][0] < end:
            return "span", answers, place
    return None


def _near(sentences: Sequence[str], at: int | None, rng: random.Random) -> list[str]:
    """A run of sentences that holds the one at `at`; without one, mostly all of them."""
    count = rng.choice(_CUTS)
    if at is None:
        return list(sentences)
    first = max(0, at - rng.randrange(count))
    return list(sentences[first : max(at + 1, first + count)])


def _title(row: Row) -> str | None:
    title = row.get("title")
    return None if title is None or row["dataset"] == "drop" else str(title).replace("_", " ")


def _question(row: Row) -> str:
    return " ".join(str(row["question"]).split())
