"""The pairs made for the entailment head: changed facts, other words, orders, questions with answers."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.entailment.asked import multihop_questions, reading_questions
from langgraph_evidence.training.entailment.changes import (
    CHANGES,
    change_date,
    change_name,
    change_number,
    change_unit,
    like,
    names,
    near,
    negate,
    swap_names,
)
from langgraph_evidence.training.entailment.data import (
    CHANGED,
    changed_pairs,
    derived_pairs,
    joint_pairs,
    ordered_pairs,
    question_pairs,
    without_leaks,
    yes_or_no_pairs,
)
from langgraph_evidence.training.entailment.instructions import order_alone, with_order
from langgraph_evidence.training.entailment.pairs import NliPair
from langgraph_evidence.training.entailment.questions import ANSWERS, QUESTIONS, Quote, sentence, wrong_answers
from langgraph_evidence.training.entailment.rewording import attributed, contractions, dates, numbers, reword, voice

PREMISE = "Ann Lee met Bob Ray in Rome on 3 May 1950. They left for Oslo in 1960 with 12 friends."


def rng() -> random.Random:
    return random.Random(0)


def test_names_numbers_and_dates_are_found() -> None:
    assert names(PREMISE) == ["Ann Lee", "Bob Ray", "Rome", "Oslo"]
    assert like("Rome", PREMISE) == ["Ann Lee", "Bob Ray", "Oslo"]
    assert like("1955", PREMISE) == ["1950", "1960"]
    assert like("7", PREMISE) == ["3", "12"]
    assert like("2 May 1951", PREMISE) == []
    assert like("quickly", PREMISE) == []


@pytest.mark.parametrize("text", ["in 1950", "1,250 people", "3.5 miles", "three men", "12 May 1950"])
def test_a_number_near_by_is_another(text: str) -> None:
    found = [near(text, random.Random(seed)) for seed in range(20)]
    assert all(other and other != text for other in found)


def test_each_change_changes_its_fact() -> None:
    chance = rng()
    assert {change_name("Ann Lee met Bob Ray.", PREMISE, chance) for _ in range(40)} >= {
        "Rome met Bob Ray.",
        "Ann Lee met Oslo.",
    }
    assert swap_names("Ann Lee met Bob Ray.", "", chance) == "Bob Ray met Ann Lee."
    assert swap_names("Ann Lee slept.", "", chance) is None
    assert change_number("They had 12 friends.", PREMISE, chance) not in {None, "They had 12 friends."}
    assert change_date("On 3 May 1950.", "", chance) not in {None, "On 3 May 1950."}
    assert change_date("In May.", "", chance) is None
    assert change_unit("It is older.", "", chance) == "It is younger."
    assert change_unit("Nothing.", "", chance) is None


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("It is red.", "It is not red."),
        ("It is not red.", "It is red."),
        ("It isn't red.", "It is red."),
        ("She has been here.", "She has not been here."),
        ("She won it.", "She did not win it."),
        ("She plays chess.", "She does not play chess."),
        ("Red.", None),
    ],
)
def test_a_negation_is_put_in_or_taken_out(text: str, changed: str | None) -> None:
    assert negate(text) == changed


def test_rewordings_keep_what_is_said() -> None:
    assert dates("On 3 May 1950.", random.Random(1)) in {"On May 3, 1950.", "On 1950-05-03."}
    assert dates("On May 3, 1950.", random.Random(0)) == "On 3 May 1950."
    assert numbers("He had 3 cats.", rng()) == "He had three cats."
    assert numbers("He had three cats and 1,000 mice.", rng()) == "He had 3 cats and 1000 mice."
    assert contractions("It isn't.", rng()) == "It is not."
    assert voice("The film was directed by Ann Lee.", rng()) == "Ann Lee directed the film."
    assert voice("Ann Lee wrote the book.", rng()) == "Ann Lee wrote the book."
    assert voice("Ann Lee wrote Emma.", rng()) == "Emma was written by Ann Lee."
    assert "It is red." in attributed("It is red.", rng())
    assert reword("Why? Because", rng()) is None


def claims() -> list[NliPair]:
    true = NliPair("fever_dev_evidence", PREMISE, "Ann Lee met Bob Ray on 3 May 1950.", "entailment")
    false = NliPair("fever_dev_evidence", PREMISE, "Ann Lee was in Paris.", "contradiction")
    other = NliPair("fm2", "Emma sings.", "Emma can sing.", "entailment")
    return [true, false, other] * 20


def test_changed_statements_are_not_entailed_and_reworded_and_turned_ones_are() -> None:
    made = changed_pairs(claims(), seed=0)
    assert {pair.source for pair in made} == {f"claims, {CHANGED}"}
    turned = [pair for pair in made if "Paris" in pair.hypothesis]
    assert turned
    assert all(
        pair.entailed and ("not" in pair.hypothesis or "n't" in pair.hypothesis or "never" in pair.hypothesis)
        for pair in turned
    )
    kept = [pair for pair in made if pair.entailed and "Ann Lee met Bob Ray" in pair.hypothesis]
    assert kept
    assert not any("not" in pair.hypothesis for pair in kept)
    assert any(pair.label == "contradiction" for pair in made)
    assert set(CHANGES) == {"number", "date", "name", "swap", "unit", "negation"}


def test_joint_claims_need_both_premises() -> None:
    made = joint_pairs(claims(), seed=0)
    assert made
    for pair in made:
        assert pair.entailed == (PREMISE in pair.premise and "Emma sings." in pair.premise)


def test_claims_become_yes_or_no_questions() -> None:
    made = yes_or_no_pairs(claims(), seed=0)
    assert len(made) > 10
    for pair in made:
        says_yes, true = pair.hypothesis.endswith("yes"), "Paris" not in pair.hypothesis
        assert pair.label == ("entailment" if says_yes == true else "contradiction")


def test_orders_change_no_label_and_support_nothing_alone() -> None:
    pairs = claims() * 10
    made = ordered_pairs(pairs, seed=0)
    assert all(pair.source == "orders" for pair in made)
    labels = {(pair.hypothesis, pair.label) for pair in pairs}
    for pair in made:
        if any(claim.hypothesis == pair.hypothesis and claim.premise in pair.premise for claim in pairs):
            assert (pair.hypothesis, pair.label) in labels
        else:
            assert not pair.entailed
    assert any(pair.hypothesis in pair.premise and not pair.entailed for pair in made), "a mention proves nothing"
    assert PREMISE in with_order(PREMISE, "h", rng())
    assert order_alone("h", rng())


def test_derived_pairs_come_with_the_labels_they_deserve(tmp_path: Path) -> None:
    hover = NliPair(
        "hover", "Ann was born in Rome in 1950. Bob was born in Oslo.", "Ann was born in Rome.", "entailment"
    )
    (tmp_path / "data").mkdir()
    made = derived_pairs(
        DataFolder(tmp_path / "data"), [hover, replace(hover, premise="Kim sang.", label="neutral")], seed=1
    )
    assert made
    assert all(pair.derived for pair in made)
    dropped = [pair for pair in made if pair.premise == "Bob was born in Oslo."]
    assert [pair.label for pair in dropped] == ["not_entailment"]


def test_statements_are_made_of_simple_questions() -> None:
    assert sentence("Who directed Jaws?", "Steven Spielberg") == "Steven Spielberg directed Jaws."
    assert sentence("Who is the mother of Ann?", "Eve") == "Eve is the mother of Ann."
    assert sentence("Where was Ann born?", "Rome") == "Ann was born in Rome."
    assert sentence("What did Ann say?", "Hello") is None
    assert sentence("Why?", "So") is None


def test_wrong_answers_are_of_the_right_ones_kind() -> None:
    assert wrong_answers("yes", "Is it?", PREMISE, rng()) == ["no"]
    assert set(wrong_answers("Rome", "Where?", PREMISE, rng())) <= {"Ann Lee", "Bob Ray", "Oslo"}
    assert all(text.isdigit() for text in wrong_answers("1950", "When?", PREMISE, rng()))
    assert str(Quote("", "No title.")) == "No title."


def hotpot_row() -> dict[str, object]:
    context = [
        ["Jaws", ["Jaws was directed by Steven Spielberg.", "It is a film about a shark that eats people."]],
        ["Steven Spielberg", ["Steven Spielberg was born in Ohio.", "He grew up in Arizona, a state of America."]],
        ["Other", ["George Lucas was born in California, far from here."]],
    ]
    return {
        "dataset": "hotpotqa", "question": "Where was the director of Jaws born?", "answer": "Ohio", "fold": 0,
        "context": context, "supporting_facts": [["Jaws", 0], ["Steven Spielberg", 0]], "sentence_split": True,
    }  # fmt: skip


def question_folder(path: Path) -> DataFolder:
    musique = {
        "dataset": "musique", "question": "Where was the director of Jaws born?", "answer": "Ohio", "fold": 0,
        "context": hotpot_row()["context"], "supporting_facts": None,
        "decomposition": [
            {"question": "Who directed Jaws?", "answer": "Steven Spielberg", "support_idx": 0},
            {"question": "Where was #1 born?", "answer": "Ohio", "support_idx": 1},
        ],
    }  # fmt: skip
    text = "Ann Lee was born in Rome in 1950. She moved to Oslo later. Bob was born in Paris in 1960."
    asked = {"title": "Ann_Lee", "context": text, "question": "Where was Ann Lee born?", "answers": ["Rome"],
             "answer_starts": [20], "answerable": True, "fold": 0}  # fmt: skip
    none = asked | {"question": "Where did Ann die?", "answers": [], "answer_starts": [], "answerable": False}
    yes = asked | {"question": "is ann lee a person", "answers": ["yes"], "answer_starts": [None]}
    for name, rows in {
        "multihop/hotpotqa_dev": [hotpot_row()],
        "multihop/musique_dev": [musique],
        "reading/squad1_dev": [asked],
        "reading/squad2_dev": [none],
        "reading/boolq_validation": [yes],
    }.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return DataFolder(path)


def test_questions_are_read_with_their_gold_sentences(tmp_path: Path) -> None:
    folder = question_folder(tmp_path)
    hotpot, musique, *hops = multihop_questions(folder, [0], rng())
    assert {str(quote) for quote in hotpot.gold} == {
        "Jaws: Jaws was directed by Steven Spielberg.",
        "Steven Spielberg: Steven Spielberg was born in Ohio.",
    }
    assert set(musique.gold) == set(hotpot.gold)
    assert [hop.question for hop in hops] == ["Who directed Jaws?", "Where was Steven Spielberg born?"]
    squad, missing, yes = reading_questions(folder, [0], rng())
    assert squad.gold[0] == Quote("Ann Lee", "Ann Lee was born in Rome in 1950.")
    assert "Rome" not in squad.wrong
    assert not missing.answer
    assert not missing.gold
    assert yes.question == "Is ann lee a person?"
    assert yes.wrong == ("no",)


def test_a_question_is_entailed_by_its_gold_sentences_and_by_no_part_of_them(tmp_path: Path) -> None:
    made = question_pairs(question_folder(tmp_path), [0], seed=0)
    assert any(pair.source == f"HotpotQA{ANSWERS}" and pair.entailed for pair in made)
    assert any(pair.source == f"HotpotQA{QUESTIONS}" and not pair.entailed for pair in made)
    for pair in (pair for pair in made if pair.source.startswith("HotpotQA") and not pair.derived):
        whole = "directed by Steven Spielberg" in pair.premise and "born in Ohio" in pair.premise
        told = pair.source.endswith(QUESTIONS) or "Ohio" in pair.hypothesis
        assert pair.entailed == (whole and told), pair
        assert pair.hypothesis.endswith("?") == pair.source.endswith(QUESTIONS)
    assert all(not pair.entailed for pair in made if pair.source.startswith("SQuAD 2"))


def test_what_is_tested_is_not_learnt() -> None:
    tested = [NliPair("qnli", "p", "Who built it?", "entailment")]
    learnt = [replace(tested[0], hypothesis=text) for text in ("who built it ? Ann", "Who sold it?")]
    assert without_leaks(learnt, tested) == learnt[1:]
