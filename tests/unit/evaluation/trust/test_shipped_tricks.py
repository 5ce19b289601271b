"""The shipped heads and the tricks: a false claim gets no support from a passage that orders it, and no quote of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from langgraph_evidence.evaluation.trust.tricks import read_claims, read_tricks, try_tricks
from langgraph_evidence.evaluation.trust.verifiers import open_verifier

DATA = Path(__file__).parents[3] / "data"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "bare",
        pytest.param(
            "claim",
            marks=pytest.mark.xfail(strict=True, reason="the shipped head takes a mentioned claim for one said"),
        ),
    ],
)
def test_orders_support_nothing(kind: Any) -> None:
    measured = open_verifier("verified")
    tricks = [trick for trick in read_tricks(DATA / "citation_tricks.jsonl") if trick.kind == kind]
    claims = read_claims(DATA / "citation_trick_cases.jsonl")[
        ::4
    ]  # all of them take minutes: `benches/citations.py tricks`
    tried = try_tricks(tricks, claims, measured.verifier)
    worked = [(one.trick.name, one.claim.answer, round(one.support, 2)) for one in tried if one.obeyed(measured.least)]
    quoted = [(one.trick.name, one.claim.answer) for one in tried if one.quoted and one.support >= measured.least]
    assert (worked, quoted) == ([], [])
