"""From a data folder at toy size to the tables: every source is read, every kind is made, and the figures add up."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_evidence.citations import LexicalVerifier
from langgraph_evidence.errors import ResourceError
from langgraph_evidence.evaluation.trust import reports
from langgraph_evidence.evaluation.trust.alce import LexicalJudge
from langgraph_evidence.evaluation.trust.facts import by_source, load_facts, untreed
from langgraph_evidence.evaluation.trust.guesses import cases
from langgraph_evidence.evaluation.trust.recorded import recorded_run
from langgraph_evidence.evaluation.trust.sets import changed_items, reworded_items
from langgraph_evidence.evaluation.trust.sources import FILES, MISSING_FILES, chance, open_questions, own_questions
from langgraph_evidence.evaluation.trust.verifiers import Measured
from langgraph_evidence.models.reader import Reading

PEOPLE = ["Ann Lee", "Bo Ray", "Cleo Fox", "Dan Poe", "Eve Sand", "Finn Holm"]
FILMS = ["Red Mill", "Blue Lake", "Green Hill", "Gray Moor", "Gold Coast", "Black Wood"]


def film(place: Any) -> Any:
    name, person, year = FILMS[place], PEOPLE[place], 1950 + place
    return [f"{name} is a film of {year}.", f" {person} directed {name} in {year} with {20 + place} actors."]


def multihop(place: Any, fold: Any) -> Any:
    context = [[FILMS[at], film(at)] for at in range(len(FILMS))] + [
        [PEOPLE[place], [f"{PEOPLE[place]} was born on 4 March 19{20 + place} in Oslo."]]
    ]
    return {
        "id": f"q{place}-{fold}",
        "question": f"Where was the director of {FILMS[place]} born?",
        "answer": "Oslo",
        "answer_aliases": [],
        "type": "compositional",
        "hops": 2,
        "context": context,
        "gold_idx": [place, len(FILMS)],
        "supporting_facts": [[FILMS[place], 1], [PEOPLE[place], 0]],
        "sentence_split": True,
        "decomposition": None,
        "evidences": [
            [FILMS[place], "director", PEOPLE[place]],
            [PEOPLE[place], "date of birth", f"4 March 19{20 + place}"],
            [PEOPLE[place], "spouse", "Nobody"],
        ],
        "fold": fold,
    }


def reading(place: Any, fold: Any, *, answerable: Any = True) -> Any:
    return {
        "id": f"r{place}-{answerable}-{fold}",
        "title": FILMS[place].replace(" ", "_"),
        "context": "".join(film(place)),
        "question": f"Who directed {FILMS[place]}?" if answerable else f"Who wrote {FILMS[place]}?",
        "answers": [PEOPLE[place]] if answerable else [],
        "answerable": answerable,
        "group": FILMS[place],
        "fold": fold,
    }


def claim(place: Any, fold: Any) -> Any:
    return {
        "id": f"c{place}-{fold}",
        "premise": f"{FILMS[place]}: {film(place)[0]} {FILMS[place]}:{film(place)[1]}",
        "hypothesis": f"{FILMS[place]} is a film of {1950 + place}.",
        "label": "entailment",
        "group": FILMS[place],
        "fold": fold,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("data")
    both = [(place, fold) for place in range(len(FILMS)) for fold in (3, 7)]
    files: dict[str, Any] = {f"multihop/{name}": [multihop(0, 3)] for name in (*FILES, *MISSING_FILES)}
    files["multihop/2wiki_dev"] = [multihop(*one) for one in both]
    files["multihop/hotpotqa_dev_fullwiki_missing_gold"] = [multihop(1, 7) | {"id": "m"}]
    files["multihop/musique_dev_open"] = [
        {"id": "o", "question": "Who directed Red Mill?", "answer": "Ann Lee", "type": "2hop", "fold": 7, "hops": 2,
         "gold_pids": [0], "decomposition": [{"question": "Who?", "answer": "Ann Lee", "gold_pid": 0}]},
    ]  # fmt: skip
    files["passages/wiki_passages"] = [
        {"pid": place, "title": FILMS[place], "text": "".join(film(place))} for place in range(len(FILMS))
    ]
    for name in ("squad1_train_part", "squad1_train_part_untitled", "nq_open_oracle_dev"):
        files[f"reading/{name}"] = [reading(0, 3)]
    files["reading/squad1_dev"] = [reading(*one) for one in both]
    files["reading/boolq_validation"] = [reading(1, 7) | {"answers": ["yes"], "question": "is Blue Lake a film"}]
    files["reading/squad2_dev"] = [reading(*one, answerable=sure) for one in both for sure in (True, False)]
    for name in ("fever_dev_evidence", "feverous", "fm2", "hover_text"):
        files[f"nli/{name}"] = [claim(0, 3)]
    files["nli/fm2"] = [claim(*one) for one in both]
    for name, rows in files.items():
        path = root / f"{name}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return root


def test_only_the_fold_is_read_and_every_source_of_it(folder: Any) -> None:
    facts = load_facts(folder, fold=7)
    assert by_source(facts) == {"2Wiki": 6, "2Wiki triples": 12, "SQuAD": 6, "FM2": 6, "BoolQ": 1}
    assert facts == load_facts(folder, fold=7)
    assert facts != load_facts(folder, fold=7, seed=1)
    (one,) = [fact for fact in facts if fact.id == "fm2:c0-7"]
    assert one.evidence[0]["title"] == "Red Mill"
    assert one.evidence[0]["text"].startswith("Red Mill is a film")


def test_marks_of_a_syntax_tree_are_written_out() -> None:
    assert untreed("Ann -LRB- born 1950 -RRB- 's film , `` Red '' .") == 'Ann (born 1950)\'s film, " Red ".'


def test_a_missing_file_is_named(tmp_path: Any) -> None:
    for read in (load_facts, cases, own_questions):
        with pytest.raises(ResourceError, match="lacks"):
            read(tmp_path, fold=7)


def test_items_of_every_kind_are_made(folder: Any) -> None:
    changed = changed_items(folder, fold=7, each=10)
    assert {item.kind for item in changed} == {"name", "number", "date", "negation", "swap"}
    assert max(sum(item.kind == kind for item in changed) for kind in ("name", "swap")) <= 10
    assert all(item.answer != item.truth for item in changed)
    reworded = reworded_items(folder, fold=7, count=20)
    assert len(reworded) == 20
    assert {"date form", "question as a sentence", "voice"} <= {item.kind for item in reworded}
    shown = list(reports.shown_items([*changed, *reworded], 1, seed=0))
    assert len(shown) == len({item.kind for item in (*changed, *reworded)})


def test_changed_and_reworded_answers_are_counted_by_kind(folder: Any) -> None:
    changed, reworded = changed_items(folder, fold=7, each=5), reworded_items(folder, fold=7, count=10)
    table = reports.changes_report(changed, reworded, Measured("believes all", Believer(), 0.5))
    assert "100.0% supported" in table
    assert "0.0% refused | 0.0% refused" in table


class Believer:
    """Supports everything by nothing."""

    def check(self, question: Any, answer: Any, evidence: Any) -> Any:
        return LexicalVerifier().check(question, answer, evidence)._replace(support=1.0)


class GoldReader:
    """Answers right where the passages hold the answer, and is unsure where they do not."""

    def read_batch(self, asked: Any, *, must_answer: Any) -> Any:
        assert must_answer
        return [self._reading(question, " ".join(passages)) for question, passages in asked]

    def _reading(self, question: Any, text: Any) -> Any:
        right = next((PEOPLE[n] for n, name in enumerate(FILMS) if name in question), "")
        known = "born on" in text if question.startswith("Where") else "directed" in question
        said = "Oslo" if question.startswith("Where") else right
        return Reading("span", said if known else "Rome", 0, 0, 0, 0.9 if known else 0.1, 0.8)


def test_cases_are_answerable_or_lack_something(folder: Any) -> None:
    asked = cases(folder, fold=7)
    kinds = {kind: sum(case.kind == kind for case in asked) for kind in dict.fromkeys(case.kind for case in asked)}
    assert kinds == {
        "2Wiki": 6,
        "2Wiki less one gold": 6,
        "2Wiki, gold not retrieved": 1,
        "SQuAD 2.0": 6,
        "SQuAD 2.0, unanswerable": 6,
    }
    less = [case.question for case in asked if case.kind == "2Wiki less one gold"]
    assert all(len(question.passages) == len(FILMS) for question in less)


def test_declining_is_told_beside_the_readers_own_confidence(folder: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reports, "default_reader", GoldReader)
    report, picture = reports.risk_report(folder, Measured("words", LexicalVerifier(), 0.5), fold=7)
    assert "25 guesses" in report
    assert "| reader's confidence |" in report
    assert "SQuAD 2.0, unanswerable" in report
    assert picture.startswith("<svg")


def test_recorded_answers_are_told_by_data_set_and_judge(folder: Any) -> None:
    runs = []
    for question in own_questions(folder, fold=7):
        gold = [passage for passage in question.passages if passage["id"] in question.gold_passages]
        runs.append(recorded_run(question, {"answer": "Oslo", "evidence": gold}, method="m", model="x"))
    words = Measured("words", LexicalVerifier(), 0.5)
    report = reports.citation_report(runs, words, words, [LexicalJudge()])
    assert "| m, 2Wiki | 6 |" in report
    assert "+0.0 (+0.0 to +0.0)" in report
    assert "| m, 2Wiki | words | lexical check | 6 |" in report


def test_open_questions_get_paragraphs_with_their_gold_ones(folder: Any) -> None:
    (question,) = open_questions(folder, fold=7, known=())
    assert {passage["title"] for passage in question.passages} >= {"Red Mill"}
    assert len(question.passages) == len(FILMS)
    assert open_questions(folder, fold=7, known=[question]) == []
    with pytest.raises(ResourceError, match="lacks"):
        open_questions(Path("nowhere"), fold=7, known=())


def test_chance_is_what_its_parts_are() -> None:
    assert chance("a", "b") == chance("a", "b") != chance("ab", "")
    assert 0 <= chance("x") < 1
