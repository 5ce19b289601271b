"""Reads the questions, answers and gold sentences out of the multi-hop and reading data sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from langgraph_evidence.training.entailment.changes import names
from langgraph_evidence.training.entailment.questions import Asked, Quote, as_question, sentences_of, wrong_answers

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.training.base import DataFolder, Row

MULTIHOP = (
    "hotpotqa_train", "hotpotqa_dev", "hotpotqa_more", "2wiki_train", "2wiki_dev", "2wiki_dev_more", "musique_train",
    "musique_dev", "known_questions_with_paragraphs",
)  # fmt: skip
GOLD_SENTENCES = "hotpotqa_gold_sentences"
READING = (
    "adversarial_qa_train", "adversarial_qa_validation", "squad1_train_part", "squad1_train_part_untitled",
    "squad1_dev", "squad2_dev", "squad2_train_part", "nq_open_oracle_dev", "boolq_validation", "drop_dev",
)  # fmt: skip
_NAMES = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2Wiki", "musique": "MuSiQue"}
_READING_NAMES = {"adversarial": "AdversarialQA", "squad1": "SQuAD", "squad2": "SQuAD 2", "nq": "NQ", "boolq": "BoolQ"}
_LONG_PASSAGE = 110
# Questions of one file; a training of hours sees no more.
_MOST = 5000
_NO_TITLE = re.compile(r"^(?:nfl|history)_\d+$")


def multihop_questions(folder: DataFolder, folds: Iterable[int], rng: random.Random) -> Iterator[Asked]:
    """The multi-hop questions with their gold sentences, and the single ones of MuSiQue's decompositions."""
    wanted = frozenset(folds)
    for name in MULTIHOP:
        for row in _rows(folder, f"multihop/{name}.jsonl", wanted):
            source = _NAMES[row["dataset"]]
            gold = _supporting(row) if row.get("supporting_facts") else _by_hops(row)
            if gold:
                yield _multihop(source, row, gold, rng)
            yield from _hops(source, row, rng)
    for row in _rows(folder, f"multihop/{GOLD_SENTENCES}.jsonl", wanted):
        if not row.get("in_distractor_files") and all(title for title, _ in row["gold_sentences"]):
            gold = [Quote(str(title), " ".join(text.split())) for title, text in row["gold_sentences"]]
            yield _multihop("HotpotQA", {**row, "context": []}, gold, rng)


def _rows(folder: DataFolder, name: str, folds: frozenset[int]) -> list[Row]:
    return folder.rows(name, folds) if folder.find(name) else []


def _supporting(row: Row) -> list[Quote]:
    texts = dict(row["context"])
    return [
        Quote(title, " ".join(texts[title][place].split()))
        for title, place in row["supporting_facts"]
        if title in texts and place < len(texts[title])
    ]


def _by_hops(row: Row) -> list[Quote]:
    """The sentence with each hop's answer, where every hop has one."""
    found: list[Quote] = []
    for hop in row.get("decomposition") or ():
        quote = _with_answer(row, hop)
        if quote is None:
            return []
        found.append(quote)
    return list(dict.fromkeys(found))


def _with_answer(row: Row, hop: dict[str, Any]) -> Quote | None:
    if hop.get("support_idx") is None:
        return None
    title, parts = row["context"][hop["support_idx"]]
    quotes = sentences_of(title, " ".join(parts))
    return next((quote for quote in quotes if str(hop["answer"]) in quote.text), None)


def _multihop(source: str, row: Row, gold: list[Quote], rng: random.Random) -> Asked:
    others = [
        Quote(title, " ".join(part.split()))
        for title, parts in row["context"]
        for part in (parts if len(parts) > 1 else [quote.text for quote in sentences_of(title, " ".join(parts))])
    ]
    others = [quote for quote in others if quote not in gold and len(quote.text) > 20]
    question, answer = as_question(row["question"]), str(row["answer"])
    evidence = " ".join(map(str, gold))
    pool = [name for quote in rng.sample(others, min(6, len(others))) for name in names(quote.text)]
    elsewhere = [name for name in pool if name not in evidence] if answer[:1].isupper() else []
    wrong = [*wrong_answers(answer, question, evidence, rng), *elsewhere[:2]]
    return Asked(source, question, answer, tuple(gold), tuple(others), tuple(rng.sample(wrong, len(wrong))))


def _hops(source: str, row: Row, rng: random.Random) -> Iterator[Asked]:
    done: list[str] = []
    for hop in row.get("decomposition") or ():
        question = re.sub(
            r"#(\d)", lambda m: done[int(m[1]) - 1] if int(m[1]) <= len(done) else m[0], str(hop["question"])
        )
        done.append(str(hop["answer"]))
        quote = _with_answer(row, hop) if row.get("context") else None
        if quote is not None and ">>" not in question and "#" not in question:
            plain = {"question": question, "answer": hop["answer"], "context": row["context"]}
            yield _multihop(source, plain, [quote], rng)


def reading_questions(folder: DataFolder, folds: Iterable[int], rng: random.Random) -> Iterator[Asked]:
    """The reading questions with the sentence of the answer and, now and then, those round it."""
    wanted = frozenset(folds)
    for name in READING:
        source = _READING_NAMES.get(name.split("_", maxsplit=1)[0], "DROP")
        rows = _rows(folder, f"reading/{name}.jsonl", wanted)
        for row in rng.sample(rows, min(len(rows), _MOST)):
            asked = _reading(source, row, rng)
            if asked is not None:
                yield asked


def _reading(source: str, row: Row, rng: random.Random) -> Asked | None:
    title = str(row.get("title") or "").replace("_", " ")
    quotes = sentences_of("" if _NO_TITLE.match(str(row.get("title"))) else title, row["context"])
    question = as_question(row["question"])
    question = question[:1].upper() + question[1:]
    if not row["answerable"]:
        near_by = " ".join(quote.text for quote in quotes)
        wrong = [name for name in names(near_by) if name.lower() not in question.lower()]
        return Asked(source, question, "", (), tuple(quotes), tuple(rng.sample(wrong, min(1, len(wrong)))))
    answer = " ".join(str(row["answers"][0]).split())
    if answer.lower() in {"yes", "no"}:
        gold = quotes if len(row["context"].split()) <= _LONG_PASSAGE else []
    else:
        gold = _round_answer(quotes, row, source, rng)
    if not gold:
        return None
    others = [quote for quote in quotes if quote not in gold and not any(a in quote.text for a in row["answers"])]
    wrong = wrong_answers(answer, question, row["context"], rng)
    wrong = [text for text in wrong if text not in row["answers"]]
    return Asked(source, question, answer, tuple(gold), tuple(others), tuple(rng.sample(wrong, len(wrong))))


def _round_answer(quotes: list[Quote], row: Row, source: str, rng: random.Random) -> list[Quote]:
    """The sentence that holds the answer's place, with its neighbours half the time; DROP's needs the whole passage."""
    start = next((place for place in row["answer_starts"] if place is not None), None)
    if start is None or not row["answers"]:
        return []
    if source == "DROP":
        return quotes if len(row["context"].split()) <= _LONG_PASSAGE + 40 else []
    before = len(" ".join(row["context"][:start].split()))
    ends, total = [], 0
    for quote in quotes:
        total += len(quote.text) + 1
        ends.append(total)
    place = next((place for place, end in enumerate(ends) if before < end), len(quotes) - 1)
    if row["answers"][0] not in quotes[place].text:
        return []
    reach = rng.choice([0, 0, 1, 1, 2])
    return quotes[max(0, place - reach) : place + reach + 1]
