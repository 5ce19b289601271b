"""Statements of who did it to whom: the same words, one way round entailed, the other not."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest

from langgraph_evidence.training.base import DataFolder
from langgraph_evidence.training.entailment.instructions import mention
from langgraph_evidence.training.entailment.roles import ROLES, passages_of, role_pairs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("title", "text", "entailed", "other"),
    [
        ("Jaws (film)", "Jaws is a 1975 film directed by Ann Lee.", "Jaws was directed by Ann Lee.", "Jaws directed"),
        ("Bob Ray", "Bob Ray was born in Kent.", "Bob Ray was born in Kent.", "Kent was born in Bob Ray."),
        (
            "Cid Roe",
            "Cid Roe was a son of Ann Lee.",
            "Cid Roe is the son of Ann Lee.",
            "Ann Lee is the son of Cid Roe.",
        ),
    ],
)
def test_a_relation_is_stated_one_way_and_the_other(title: str, text: str, entailed: str, other: str) -> None:
    found = [pair for seed in range(20) for pair in role_pairs([(title, text)], random.Random(seed))]
    right = {pair.hypothesis for pair in found if pair.entailed}
    wrong = {pair.hypothesis for pair in found if not pair.entailed}
    assert entailed in right
    assert any(said.startswith(other) for said in wrong)
    assert not right & wrong
    assert {pair.source for pair in found} == {ROLES}
    assert {pair.premise for pair in found} == {f"{title}: {text}"}


def test_a_name_that_the_subject_shares_is_no_other_one() -> None:
    assert not list(role_pairs([("Lee Ray", "Lee Ray is a son of Ann Lee.")], random.Random(0)))
    assert not list(role_pairs([("Jaws", "A film by nobody."), ("", "It was directed by Ann Lee.")], random.Random(0)))


def test_paragraphs_of_questions_kept_back_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"fold": 0, "context": [["A", ["One.", "Two."]], ["B", ["Three."]]]},
        {"fold": 8, "context": [["B", ["Three."]]]},
        {"fold": 7, "context": [["C", ["Four."]]]},
    ]
    (tmp_path / "multihop").mkdir()
    with gzip.open(tmp_path / "multihop/hotpotqa_dev.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert passages_of(DataFolder(tmp_path), [0]) == [("A", "One. Two.")]
    assert passages_of(DataFolder(tmp_path), [7]) == [("C", "Four.")]


def test_a_mention_holds_the_statement() -> None:
    assert all("X is Y." in mention("X is Y.", random.Random(seed)) for seed in range(30))
