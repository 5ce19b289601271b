from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import asdict
from typing import get_args

import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.closed_world import ClosedWorld, trajectory
from langgraph_evidence.evaluation.datasets import load_data
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.world.claims import Operator, verdict
from langgraph_evidence.evaluation.world.facts import Entity, Facts
from langgraph_evidence.text import normalise_answer

WORLD = ClosedWorld(seed=7, size=400, count=160)
PINNED = "f125e6f77c2013c66393f39993e0cbdfe4dd03e6636df3fe80ecc34be5670a8d"


def digest(world: ClosedWorld) -> str:
    everything = [
        list(world.passages()),
        [asdict(question) for question in world.questions()],
        [asdict(claim) for claim in world.claims()],
        list(world.ambiguous()),
    ]
    return hashlib.sha256(json.dumps(everything, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return list(WORLD.questions())


def test_the_same_seed_is_the_same_world_on_any_machine() -> None:
    assert digest(WORLD) == PINNED


def test_the_world_does_not_depend_on_the_hash_seed_of_the_interpreter() -> None:
    code = (
        "from langgraph_evidence.evaluation.closed_world import ClosedWorld as W; import hashlib;"
        "w = W(seed=3, size=100, count=40);"
        "print(hashlib.sha256(repr([*w.passages(), *w.questions(), *w.claims()]).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_another_seed_is_another_world() -> None:
    mine, other = ({p["title"] for p in ClosedWorld(seed=seed, size=400).passages()} for seed in (7, 8))
    assert len(mine & other) < 10


@pytest.mark.parametrize("size", [100, 137, 5_000])
def test_titles_and_ids_are_unique_and_every_passage_has_text(size: int) -> None:
    passages = ClosedWorld(seed=1, size=size).passages()
    assert len(passages) == size
    assert len({passage["title"] for passage in passages}) == size
    assert len({passage["id"] for passage in passages}) == size
    assert all(passage["text"].count(".") >= 3 and not re.search(r"\bNone\b", passage["text"]) for passage in passages)


def test_a_passage_at_a_position_is_the_one_that_is_streamed() -> None:
    passages = WORLD.passages()
    assert passages[37] == list(passages)[37] == passages[37:38][0]
    assert passages[-1] == list(passages)[-1]
    with pytest.raises(IndexError):
        passages[400]


def test_a_big_world_streams_in_constant_memory() -> None:
    passages = ClosedWorld(seed=5, size=1_000_000).passages()
    tracemalloc.start()
    for passage in itertools.islice(passages, 0, 1000):
        assert passage["id"]
    assert passages[999_999]["title"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("text", ["size=99", "size=1000001", "seed=x", "colour=3", "seed", "count=0", "seed=-1"])
def test_a_wrong_description_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        ClosedWorld.parse(text)


def test_it_loads_as_a_data_set() -> None:
    data = load_data("closed-world:seed=7,size=400,count=160", fold=7)
    assert 5 < len(data.questions) < 40
    assert {question.fold for question in data.questions} == {7}
    assert data.corpus is not None
    assert next(iter(data.corpus()))["id"] == "w7-0"
    assert data.sha256 != load_data("closed-world:seed=8,size=400").sha256


def test_all_kinds_and_one_to_four_hops(questions: list[Question]) -> None:
    kinds = Counter(question.kind for question in questions)
    assert set(kinds) == {"single", "bridge", "comparison", "bridge_comparison", "intersection"}
    assert {question.hops for question in questions} == {1, 2, 3, 4}
    assert len({question.question for question in questions}) == len(questions) == 160
    assert len({question.id for question in questions}) == 160


def test_a_shorter_list_is_the_start_of_a_longer_one(questions: list[Question]) -> None:
    assert list(ClosedWorld(seed=7, size=400, count=20).questions()) == questions[:20]


def test_gold_passages_are_among_the_own_paragraphs_and_hold_the_facts(questions: list[Question]) -> None:
    whole = {passage["id"]: passage for passage in WORLD.passages()}
    for question in questions:
        own = {passage["id"]: passage for passage in question.passages}
        assert len(own) == len(question.passages) >= 10
        assert set(question.gold_passages) <= set(own)
        assert all(whole[name] == passage for name, passage in own.items())
        titles = {passage["title"]: passage["id"] for passage in question.passages}
        assert {title for title, _ in question.supporting_facts} == set(question.gold_titles)
        for title, index in question.supporting_facts:
            assert question.sentences[titles[title]][index] in own[titles[title]]["text"]


def test_the_answer_of_a_chain_stands_in_the_last_gold_sentence(questions: list[Question]) -> None:
    chains = [question for question in questions if question.kind in {"single", "bridge"}]
    assert len(chains) > 50
    for question in chains:
        texts = {passage["id"]: passage["text"] for passage in question.passages}
        last = question.steps[-1]
        assert last.answer == question.answers[0]
        assert last.passage is not None
        industry = "industry" in last.question
        assert industry or normalise_answer(last.answer) in normalise_answer(texts[last.passage])
        for earlier, later in itertools.pairwise(trajectory(question)):
            assert earlier.answer in later.query


def test_trajectories_put_earlier_answers_in(questions: list[Question]) -> None:
    for question in questions:
        visits = trajectory(question)
        assert len(visits) == len(question.steps)
        assert not any(re.search(r"#\d", visit.query) for visit in visits)
        assert {visit.passage_id for visit in visits} - {None} == set(question.gold_passages)


def test_no_other_person_could_be_the_answer_of_an_intersection() -> None:
    facts = Facts(7, 400)
    for question in ClosedWorld(seed=7, size=400, count=160).questions():
        if question.kind != "intersection":
            continue
        firm, event = (facts.entity(int(name.split("-")[1])) for name in question.gold_passages[:2])
        finalists = [*facts.participants(event), facts.follow(event, "winner")]
        assert sum(person in finalists for person in facts.board(firm)) == 1


def test_relations_can_be_followed_back() -> None:
    facts = Facts(3, 500)
    for relation, (source, target, _) in facts.relations.items():
        if source == target:
            continue
        found = [one for n in range(facts.counts[target]) for one in facts.sources(Entity(target, n), relation)]
        assert sorted(found) == [Entity(source, n) for n in range(facts.counts[source])]


def test_spouses_agree_and_namesakes_differ_in_role() -> None:
    facts = Facts(3, 2000)
    pairs = 0
    for number in range(facts.counts["person"]):
        person = Entity("person", number)
        if facts.married(person):
            assert facts.married(facts.follow(person, "spouse"))
        other = facts.namesake(person)
        if other:
            pairs += 1
            assert facts.namesake(other) == person
            assert facts.name(other) == facts.name(person)
            assert facts.role(other) != facts.role(person)
    assert pairs > 100


def test_an_ambiguous_question_has_a_reading_for_each_bearer_of_the_name() -> None:
    found = list(WORLD.ambiguous())
    assert len(found) > 10
    texts = {passage["id"]: passage["text"] for passage in WORLD.passages()}
    for question in found:
        assert len({reading.passage_id for reading in question.readings}) == 2
        for reading in question.readings:
            assert reading.answer in texts[reading.passage_id]
            assert reading.question != question.question


def test_a_proof_covers_its_claim_and_quotes_its_evidence() -> None:
    found = list(WORLD.claims())
    assert {claim.label for claim in found} == {"supported", "refuted", "not enough"}
    assert {claim.hops for claim in found} >= {1, 2, 3}
    assert {step.operator for claim in found for step in claim.proof} == set(get_args(Operator))
    for claim in found:
        assert " ".join(step.claim for step in claim.proof) + "." == claim.claim
        evidence = " ".join(f"{sentence.title}: {sentence.text}" for sentence in claim.evidence)
        assert all(step.evidence in evidence for step in claim.proof)
        assert all((step.evidence == "") == (step.operator == "#") for step in claim.proof)
        assert claim.label == verdict(step.operator for step in claim.proof)
        ids = {passage["id"] for passage in claim.passages}
        assert all(sentence.passage_id in ids for sentence in claim.evidence)


def test_a_refuted_value_is_not_in_the_evidence_and_a_supported_one_is() -> None:
    for claim in WORLD.claims():
        evidence = " ".join(sentence.text for sentence in claim.evidence)
        for step in claim.proof:
            if step.operator == "|":
                assert f" {step.claim}." not in evidence


@pytest.mark.parametrize(
    ("operators", "label"),
    [
        ("", "supported"),
        ("==<=", "supported"),
        ("=!", "refuted"),
        ("=|=", "refuted"),
        ("!!", "supported"),
        ("|!", "supported"),
        ("!>", "refuted"),
        (">", "not enough"),
        ("#=", "not enough"),
        ("||", "not enough"),
        ("!<", "not enough"),
        ("|#!", "not enough"),
    ],
)
def test_the_automaton(operators: str, label: str) -> None:
    assert verdict(operators) == label  # type: ignore[arg-type]  # each letter is an operator
