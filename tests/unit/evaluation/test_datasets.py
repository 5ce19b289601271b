from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.datasets import join_data, load_data
from langgraph_evidence.evaluation.rows import question_from_row
from langgraph_evidence.retrieval.formats import BrokenRowError
from langgraph_evidence.types import content_id

HOTPOT: dict[str, Any] = {
    "_id": "h1",
    "question": "Where was the author of Fen born?",
    "answer": "Oslo",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Fen", 0], ["Ann Moe", 1]],
    "context": [
        ["Fen", ["Fen is a novel.", " It sold well."]],
        ["Moss", ["Moss is a plant."]],
        ["Ann Moe", ["Ann Moe wrote Fen.", " She was born in Oslo."]],
    ],
}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Who led the country of Ann Moe?",
    "answer": "Bo",
    "answer_aliases": ["Bo Li"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Ann Moe", "paragraph_text": "She is from Norway.", "is_supporting": True},
        {"idx": 1, "title": "Ann Moe", "paragraph_text": "Her cat is old.", "is_supporting": False},
        {"idx": 2, "title": "Norway", "paragraph_text": "Bo led it.", "is_supporting": True},
    ],
    "question_decomposition": [
        {"id": 1, "question": "Ann Moe >> country", "answer": "Norway", "paragraph_support_idx": 0},
        {"id": 2, "question": "#1 >> leader", "answer": "Bo", "paragraph_support_idx": 2},
    ],
}
OPEN = {"id": "o1", "dataset": "musique", "question": "Q?", "answer": "A", "gold_pids": [3, 9], "hops": 2, "fold": 7}


def lines(path: Path, *rows: object) -> Path:
    text = "\n".join(json.dumps(row) for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_official_hotpotqa(tmp_path: Path) -> None:
    path = tmp_path / "hotpot_dev_distractor_v1.json"
    path.write_text(json.dumps([HOTPOT]))
    question = load_data(path).questions[0]
    assert (question.id, question.answers, question.kind, question.hops) == ("h1", ("Oslo",), "bridge", 2)
    assert [passage["title"] for passage in question.passages] == ["Fen", "Moss", "Ann Moe"]
    assert question.passages[2]["text"] == "Ann Moe wrote Fen. She was born in Oslo."
    assert question.gold_passages == tuple(question.passages[n]["id"] for n in (0, 2))
    assert question.gold_titles == ("Fen", "Ann Moe")
    assert question.supporting_facts == (("Fen", 0), ("Ann Moe", 1))
    assert question.style == "hotpotqa"
    # the id that a corpus built from the same file gives to the same passage
    assert question.gold_passages[0] == content_id("Fen", "Fen is a novel. It sold well.")


def test_a_gold_passage_that_is_not_among_the_paragraphs_still_counts(tmp_path: Path) -> None:
    row = {**HOTPOT, "context": HOTPOT["context"][:2]}
    question = load_data(lines(tmp_path / "d.jsonl", row)).questions[0]
    assert question.gold_passages == (question.passages[0]["id"], "missing:Ann Moe")
    assert question.gold_titles == ("Fen", "Ann Moe")


def test_official_2wiki_takes_aliases_and_demonyms_from_the_file_beside_it(tmp_path: Path) -> None:
    row = {**HOTPOT, "evidences": [["Fen", "author", "Ann Moe"]], "answer_id": "Q585"}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([row]))
    lines(tmp_path / "id_aliases.json", {"Q_id": "Q585", "aliases": ["Kristiania"], "demonyms": ["Oslovian"]})
    question = load_data(path).questions[0]
    assert question.style == "2wiki"
    assert question.answers == ("Oslo", "Kristiania", "Oslovian")


def test_official_musique(tmp_path: Path) -> None:
    twin = {**MUSIQUE, "answerable": False}
    question, *others = load_data(lines(tmp_path / "m.jsonl", MUSIQUE, twin)).questions
    assert not others  # the official scorer leaves unanswerable twins out of answer and support
    assert (question.style, question.kind, question.hops, question.answers) == ("musique", "2hop", 2, ("Bo", "Bo Li"))
    assert question.gold_passages == (question.passages[0]["id"], question.passages[2]["id"])
    assert len({passage["id"] for passage in question.passages}) == 3  # two paragraphs share a title
    assert [(step.answer, step.passage) for step in question.steps] == [
        ("Norway", question.passages[0]["id"]),
        ("Bo", question.passages[2]["id"]),
    ]


def test_own_paragraph_schema_and_open_schema(tmp_path: Path) -> None:
    own = {
        **{key: HOTPOT[key] for key in ("question", "answer", "context", "type")},
        "id": "x",
        "dataset": "2wikimultihopqa",
        "answer_aliases": ["Kristiania"],
        "gold_idx": [0, 2],
        "supporting_facts": None,
        "sentence_split": False,
        "fold": 7,
    }
    data = load_data(lines(tmp_path / "d.jsonl.gz", own, OPEN))
    first, second = data.questions
    assert first.gold_titles == ("Fen", "Ann Moe")
    assert (first.style, first.sentences, first.supporting_facts, first.fold) == ("2wiki", {}, (), 7)
    assert (second.passages, second.gold_passages, second.hops) == ((), ("3", "9"), 2)


def test_fold_and_limit(tmp_path: Path) -> None:
    rows = [{**OPEN, "id": f"o{n}", "fold": n % 2} for n in range(6)]
    path = lines(tmp_path / "d.jsonl", *rows)
    assert [question.id for question in load_data(path, fold=1, limit=2).questions] == ["o1", "o3"]
    assert load_data(path).sha256 == load_data(path, limit=1).sha256
    with pytest.raises(InvalidInput, match="folds 0, 1"):
        load_data(path, fold=7)
    with pytest.raises(InvalidInput, match="limit"):
        load_data(path, limit=0)
    with pytest.raises(InvalidInput, match="no fold"):
        load_data(lines(tmp_path / "n.jsonl", {**OPEN, "fold": None}), fold=7)


def test_files_are_joined_unless_they_share_a_question(tmp_path: Path) -> None:
    one = load_data(lines(tmp_path / "a.jsonl", OPEN), fold=7)
    two = load_data(lines(tmp_path / "b.jsonl", {**OPEN, "id": "o2"}), fold=7)
    joined = join_data("both", [one, two])
    assert [question.id for question in joined.questions] == ["o1", "o2"]
    assert (joined.name, joined.fold) == ("both", 7)
    assert joined.sha256 not in {one.sha256, two.sha256}
    with pytest.raises(InvalidInput, match="share the question id 'o1'"):
        join_data("both", [one, one])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({**OPEN, "question": " "}, "question"),
        ({**OPEN, "answer": None}, "answer"),
        ({**OPEN, "answer": ["A"]}, "answer"),
        ({**OPEN, "fold": "seven"}, "fold"),
        ({**HOTPOT, "supporting_facts": [["Fen"]]}, "supporting fact"),
        ({**HOTPOT, "id": "i", "context": [["Fen"]]}, "pairs"),
        ({**HOTPOT, "id": "i", "gold_idx": [5]}, "3 paragraphs"),
        ({**HOTPOT, "id": "i", "gold_idx": [-1]}, "3 paragraphs"),
        ({**MUSIQUE, "paragraphs": [7]}, "objects"),
        ([1], "object"),
    ],
)
def test_a_broken_row_names_file_line_and_reason(tmp_path: Path, broken: object, reason: str) -> None:
    path = lines(tmp_path / "d.jsonl", {**OPEN, "id": "fine"}, broken)
    with pytest.raises(ResourceError, match=rf"d\.jsonl, line 2.*{reason}"):
        load_data(path)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "text", "x"]), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*HOTPOT, *MUSIQUE, *OPEN, "gold_idx", "gold_titles", "decomposition"]), _VALUES)
)
def test_a_row_is_read_or_refused_whatever_stands_in_it(change: dict[str, Any]) -> None:
    for row in (HOTPOT, MUSIQUE, OPEN):
        try:
            question = question_from_row({**row, **change}, {})
        except BrokenRowError:
            continue
        assert question is None or (question.id and question.question and question.answers)


def test_what_is_no_data_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="no data file"):
        load_data(tmp_path / "none.jsonl")
    with pytest.raises(ResourceError, match=r"line 2.*already used at .*line 1"):
        load_data(lines(tmp_path / "twice.jsonl", OPEN, OPEN))
    (tmp_path / "cut.jsonl").write_text(json.dumps(OPEN)[:-3])
    with pytest.raises(ResourceError, match="line 1"):
        load_data(tmp_path / "cut.jsonl")
    whole = gzip.compress(json.dumps(OPEN).encode() * 50)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ResourceError, match="cannot be read"):
        load_data(tmp_path / "cut.jsonl.gz")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ResourceError, match="no question"):
        load_data(tmp_path / "empty.jsonl")
