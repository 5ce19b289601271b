"""The shipped sample is what NOTICE and the README say it is."""

from __future__ import annotations

import gzip
import json

from langgraph_evidence.data import sample_passages_path, sample_questions


def read_passages() -> list[dict[str, str]]:
    with gzip.open(sample_passages_path(), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_sizes_are_those_promised() -> None:
    passages = read_passages()
    assert 500 <= len(passages) <= 1000
    assert len(sample_questions()) >= 25
    assert sum(path.stat().st_size for path in sample_passages_path().parent.glob("*.gz")) < 2_000_000


def test_every_passage_has_its_own_id_a_title_and_a_text() -> None:
    passages = read_passages()
    assert all(set(passage) == {"id", "title", "text"} for passage in passages)
    assert all(passage["title"].strip() and passage["text"].strip() for passage in passages)
    assert len({passage["id"] for passage in passages}) == len(passages)


def test_gold_passages_are_in_the_corpus_among_many_that_distract() -> None:
    known = {passage["id"] for passage in read_passages()}
    gold = {gold_id for question in sample_questions() for gold_id in question["gold_ids"]}
    assert gold <= known
    assert len(gold) < len(known) / 4


def test_every_question_is_multi_hop_answered_and_from_no_fold_that_is_kept_back() -> None:
    for question in sample_questions():
        assert question["question"].strip()
        assert question["answer"].strip()
        assert len(question["gold_ids"]) >= 2
        assert question["fold"] <= 7
    assert {question["type"] for question in sample_questions()} == {
        "comparison",
        "compositional",
        "inference",
        "bridge_comparison",
    }
