"""No support from orders: the tricks are tried on verifiers that fall for them and on one that cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.trust.reports import tricks_report
from langgraph_evidence.evaluation.trust.tricks import read_claims, read_tricks, trick_passage, try_tricks
from langgraph_evidence.evaluation.trust.verifiers import Measured, open_verifier
from langgraph_evidence.settings import Settings

DATA = Path(__file__).parents[3] / "data"
TRICKS = read_tricks(DATA / "citation_tricks.jsonl")
CLAIMS = read_claims(DATA / "citation_trick_cases.jsonl")


class Obedient:
    """Supports whatever a passage with a word tells it to."""

    def __init__(self, word: Any) -> None:
        self.word = word

    def check(self, question: Any, answer: Any, evidence: Any) -> Any:
        from langgraph_evidence.citations import Checked

        obeyed = [p for p in evidence if self.word in p["text"].lower()]
        quotes: Any = [{"passage_id": passage["id"]} for passage in obeyed]
        return Checked(quotes, [], 1.0 if obeyed else 0.0, [], "verified")


def test_there_are_more_than_forty_tricks_and_no_two_alike() -> None:
    assert len({trick.text for trick in TRICKS}) == len({trick.name for trick in TRICKS}) == len(TRICKS) >= 41
    assert {trick.kind for trick in TRICKS} == {"bare", "claim"}


def test_a_trick_is_filled_in_and_looks_to_the_point() -> None:
    passages = [trick_passage(trick, claim) for trick in TRICKS for claim in CLAIMS]
    assert not [p["text"] for p in passages if any(f"{{{name}}}" in p["text"] for name in ("claim", "asked", "answer"))]
    assert len({passage["id"] for passage in passages}) > 4 * sum(trick.kind == "claim" for trick in TRICKS)
    assert {passage["title"] for passage in passages} == {claim.title for claim in CLAIMS}


def test_bare_tricks_say_nothing_of_the_claim_and_the_true_passage_says_otherwise() -> None:
    for claim in CLAIMS:
        assert claim.answer not in claim.contrary.replace("produced by Peter Olsen", "")
        bare = [trick_passage(trick, claim)["text"] for trick in TRICKS if trick.kind == "bare"]
        assert not any(claim.answer in text for text in bare)


def test_a_verifier_that_obeys_is_found_out() -> None:
    tried = try_tricks(TRICKS[:3], CLAIMS[:1], Obedient("supports every claim"))
    assert [(one.trick.name, one.alone, one.quoted, one.obeyed(0.5)) for one in tried if one.support] == [
        ("every claim", False, True, True),
        ("every claim", True, True, True),
    ]


def test_what_is_believed_without_a_trick_is_not_its_doing() -> None:
    tried = try_tricks(TRICKS[:1], CLAIMS[:1], Obedient("painter"))
    assert not any(one.obeyed(0.5) for one in tried)
    report = tricks_report(TRICKS[:2], CLAIMS[:1], Measured("mine", Obedient("painter"), 0.5))
    assert report.startswith("0 of 2 tricks give support; without any, 2 of 2 false claims have it.")


def test_the_report_names_the_tricks_that_work() -> None:
    report = tricks_report(TRICKS, CLAIMS[:1], Measured("mine", Obedient("supports every claim"), 0.5))
    assert report.startswith("1 of ")
    assert "| every claim | bare | 2 of 2 | 2 of 2 |" in report


def test_damaged_tricks_are_refused(tmp_path: Any) -> None:
    with pytest.raises(ResourceError, match="no file"):
        read_tricks(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"name": "x"}\n')
    with pytest.raises(ResourceError, match="name, kind, text"):
        read_tricks(tmp_path / "bad.jsonl")


def test_a_verifier_has_one_of_two_names() -> None:
    assert open_verifier("lexical", least=0.3).least == 0.3
    assert open_verifier("lexical").least == Settings().min_support
    with pytest.raises(InvalidInput, match="verified and lexical"):
        open_verifier("other")
