"""Answers whose truth is known, each with the evidence that shows it: what changed and reworded answers are made of.

From one fold of the data: claims with the sentences that entail them (FEVER, FEVEROUS, FM2, HoVer), questions over a
paragraph (SQuAD, NQ, BoolQ), multi-hop questions over their gold paragraphs, and 2WikiMultihopQA's triples as
statements over the paragraph that each comes from. Left out are WiCE, whose pages are full of what a crawler left,
and AdversarialQA, many of whose questions say too little to have one answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.evaluation.trust.sources import SETS, chance, own_questions
from langgraph_evidence.retrieval.reading import json_lines
from langgraph_evidence.text import holds, words
from langgraph_evidence.types import Passage, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from langgraph_evidence.evaluation.question import Question

CLAIMS = {
    "FEVER": "fever_dev_evidence",
    "FEVEROUS": "feverous",
    "FM2": "fm2",
    "HoVer": "hover_text",
}
"""The file in `nli/` of each set of claims."""
READING = {
    "SQuAD": ("squad1_dev", "squad1_train_part", "squad1_train_part_untitled"),
    "NQ": ("nq_open_oracle_dev",),
    "BoolQ": ("boolq_validation",),
}
"""The files in `reading/` of each set of questions over a paragraph."""
# An entailment model reads no longer premise well, and length is not what is measured here.
_MOST_WORDS = 220
TRIPLES = "2Wiki triples"
"""The source of statements that are made of triples."""
_TRIPLES = {
    "director": "The director of {} is {}.",
    "father": "The father of {} is {}.",
    "mother": "The mother of {} is {}.",
    "spouse": "The spouse of {} is {}.",
    "composer": "The composer of {} is {}.",
    "performer": "The performer of {} is {}.",
    "date of birth": "{} was born on {}.",
    "date of death": "{} died on {}.",
    "place of birth": "{} was born in {}.",
    "place of death": "{} died in {}.",
    "educated at": "{} was educated at {}.",
}


class Fact(NamedTuple):
    """A true answer.

    Args:
        id: Unique.
        source: The data set.
        group: The leak group as far as it is known: the page, article or question.
        question: What it answers; empty for a statement.
        answer: A phrase where there is a question, else a sentence.
        answers: Other right answers to the question.
        evidence: The passages that show it.
    """

    id: str
    source: str
    group: str
    question: str
    answer: str
    answers: tuple[str, ...]
    evidence: tuple[Passage, ...]

    @property
    def text(self) -> str:
        """The evidence as one text, titles and all."""
        return " ".join(f"{passage['title']} {passage['text']}".strip() for passage in self.evidence)


def load_facts(root: Path, *, fold: int, seed: int = 0) -> list[Fact]:
    """The facts of a fold, in an order by chance that the seed decides.

    Args:
        root: The data folder.
        fold: The fold to keep.
        seed: Of the order.

    Raises:
        ResourceError: A file is missing or damaged.
    """
    found = [*_claims(root, fold), *_reading(root, fold), *_multihop(root, fold)]
    unique = {(fact.question, fact.answer, fact.text): fact for fact in reversed(found)}
    short = [fact for fact in unique.values() if len(words(fact.text)) <= _MOST_WORDS]
    return sorted(short, key=lambda fact: chance(str(seed), fact.id))


def fold_rows(root: Path, folder: str, name: str, fold: int) -> Iterator[dict[str, Any]]:
    """The rows of a fold of one file of the data.

    Raises:
        ResourceError: The file is missing or damaged.
    """
    path = root / folder / f"{name}.jsonl.gz"
    if not path.is_file():
        raise ResourceError(f"The data folder {root} lacks {folder}/{name}.jsonl.gz.")
    for _, row in json_lines(path):
        if isinstance(row, dict) and row.get("fold") == fold:
            yield row


def _passage(title: str, text: str) -> Passage:
    return Passage(id=content_id(title, text), title=title, text=text)


def _claims(root: Path, fold: int) -> Iterator[Fact]:
    for source, name in CLAIMS.items():
        for row in fold_rows(root, "nli", name, fold):
            claim, premise, page = str(row["hypothesis"]), untreed(str(row["premise"])), str(row["group"])
            title = page if premise.startswith(f"{page}: ") else ""
            text = premise.replace(f"{page}: ", "") if title else premise
            # FEVER's sentences may say "it": the page's name has to stand there for the claim to follow.
            if row["label"] == "entailment" and _names_subject(claim, f"{title} {text}"):
                yield Fact(f"{name}:{row['id']}", source, page, "", claim, (), (_passage(title, text),))


def untreed(text: str) -> str:
    """A text of FEVER without the marks of a syntax tree: brackets and quotes as they are written."""
    for mark, written in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("``", '"'), ("''", '"')):
        text = text.replace(mark, written)
    return re.sub(r"\s+([,.;:?!)\]]|'s\b|n't\b)", r"\1", re.sub(r"([(\[])\s+", r"\1", text)).strip()


def _names_subject(claim: str, evidence: str) -> bool:
    first = re.match(r"(?:The |A |An )?((?:[A-Z][\w'’.-]*\s*)+)", claim)
    return first is not None and all(holds(evidence, word) for word in words(first[1])[:3])


def _reading(root: Path, fold: int) -> Iterator[Fact]:
    for source, name in ((source, name) for source, names in READING.items() for name in names):
        for row in fold_rows(root, "reading", name, fold):
            answers = tuple(dict.fromkeys(map(str, row["answers"])))
            passage = _passage(str(row.get("title") or "").replace("_", " "), str(row["context"]))
            if answers and (answers[0] in {"yes", "no"} or holds(passage["text"], answers[0])):
                asked = str(row["question"]).strip()
                yield Fact(f"{name}:{row['id']}", source, str(row["group"]), asked, answers[0], answers, (passage,))


def _multihop(root: Path, fold: int) -> Iterator[Fact]:
    for question in own_questions(root, fold=fold):
        evidence = tuple(p for p in question.passages if p["id"] in question.gold_passages)
        if len(evidence) == len(question.gold_passages):
            source = SETS[question.dataset]
            first, asked = question.answers[0], question.question
            yield Fact(f"multihop:{question.id}", source, question.id, asked, first, question.answers, evidence)
    for name in ("2wiki_dev", "2wiki_train", "2wiki_dev_more"):
        for row in fold_rows(root, "multihop", name, fold):
            yield from _triples(row)


def _triples(row: dict[str, Any]) -> Iterator[Fact]:
    texts = {title: " ".join(map(str.strip, sentences)) for title, sentences in row["context"]}
    for number, (subject, relation, thing) in enumerate(row["evidences"]):
        text = texts.get(subject, "")
        # The triples are Wikidata's: the paragraph has to say it in the same words.
        if relation in _TRIPLES and holds(text, thing):
            passage = _passage(subject, text)
            statement = _TRIPLES[relation].format(re.sub(r" \(.*\)$", "", subject), thing)
            yield Fact(f"2wiki:{row['id']}:{number}", TRIPLES, row["id"], "", statement, (), (passage,))


def comparison(question: Question | str) -> bool:
    """Whether a question compares two things, so that the wrong answer is the other one."""
    asked = question if isinstance(question, str) else question.question
    compares = r"\b(or|both|same|older|younger|earlier|later|first|more|longer|larger|bigger|higher)\b"
    return re.search(compares, asked.lower()) is not None


def by_source(facts: Iterable[Fact]) -> dict[str, int]:
    """How many there are of each source."""
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.source] = counts.get(fact.source, 0) + 1
    return counts
