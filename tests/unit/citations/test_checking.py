"""Verifiers and models that fail or give what cannot be: never support, never an answer, always a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from langgraph_evidence.citations import Checked, LexicalVerifier, Verifier, checked_by
from langgraph_evidence.citations.quotes import quotes_of
from langgraph_evidence.errors import ModelError
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

SHE = Passage(id="m", title="X", text="His mother is Ann Lee. She met Bob Ray in Kent.")
ASKED, SAID = "Who is his mother?", "Ann Lee"


class Gives:
    """A verifier that gives what lexical citations give, changed."""

    def __init__(self, **changed: Any) -> None:
        self.changed = changed

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        found: Any = LexicalVerifier().check(question, answer, evidence)
        for key in ("citations", "sentences"):
            rows = [{**row, **self.changed.get("each", {})} for row in getattr(found, key)]
            found = found._replace(**{key: rows})
        changed: Checked = found._replace(**{key: value for key, value in self.changed.items() if key != "each"})
        return changed


class Raises:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        raise self.error


def test_a_right_check_is_taken_as_it_is() -> None:
    found = checked_by(Gives, ASKED, SAID, [SHE])
    assert found == LexicalVerifier().check(ASKED, SAID, [SHE])
    assert found.citations
    assert not found.failed


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"support": float("nan")}, "number from 0 to 1"),
        ({"support": float("inf")}, "number from 0 to 1"),
        ({"support": 7.0}, "number from 0 to 1"),
        ({"support": None}, "number from 0 to 1"),
        ({"each": {"support": float("nan")}}, "number from 0 to 1"),
        ({"each": {"end": 100}}, "outside the answer"),
        ({"each": {"start": -1}}, "outside the answer"),
        ({"each": {"quote": "No passage says this."}}, "does not stand"),
        ({"each": {"passage_id": "z"}}, "does not stand"),
        ({"each": {"quote_start": 3}}, "does not stand"),
        ({"citations": []}, "without a quote"),
        ({"failed": "server down", "support": 0.9}, "server down"),
    ],
)
def test_what_cannot_be_is_no_check(changed: dict[str, Any], reason: str) -> None:
    found = checked_by(lambda: Gives(**changed), ASKED, SAID, [SHE])
    assert reason in found.failed
    assert (found.support, found.citations, found.sentences, found.conflicts) == (0.0, [], [], [])


@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("no"), MemoryError("all"), ModelError("down")])
def test_whatever_a_verifier_raises_is_a_reason(error: Exception) -> None:
    assert str(error) in checked_by(lambda: Raises(error), ASKED, SAID, [SHE]).failed


def test_nothing_is_no_check() -> None:
    class Nothing:
        def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Any:
            return None

    assert "NoneType" in checked_by(Nothing, ASKED, SAID, [SHE]).failed


class Model:
    """An entailment model that gives these numbers for every pair, or for one too many."""

    threshold = 0.5

    def __init__(self, value: float = 0.9, *, more: int = 0, label: float = 0.1) -> None:
        self.value, self.more, self.label = value, more, label

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.full(len(pairs) + self.more, self.value)

    def labels3(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.full((len(pairs), 3), self.label)


class Ranks:
    def __init__(self, value: float = 0.5, *, more: int = 0) -> None:
        self.value, self.more = value, more

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        return [self.value] * (len(sentences) + self.more)


class Reads:
    def __init__(self, score: float) -> None:
        self.text, self.score = SAID, score

    def candidates(self, question: str, passages: Sequence[str], k: int = 5) -> Any:
        return [self]


OTHER = Passage(id="o", title="Y", text="His mother is Ann Lee, or so they say in Kent.")
NAN = float("nan")


@pytest.mark.parametrize(
    "verifier",
    [
        Verifier(Model(NAN), Ranks()),
        Verifier(Model(7.0), Ranks()),
        Verifier(Model(more=1), Ranks()),
        Verifier(Model(label=NAN), Ranks()),
        Verifier(Model(), Ranks(NAN)),
        Verifier(Model(), Ranks(more=1)),
        Verifier(Model(), Ranks(), reader=Reads(NAN)),
        Verifier(Model(), Ranks(), reader=Reads(9.0)),
    ],
)
def test_a_model_that_gives_no_numbers_or_others_has_failed(verifier: Verifier) -> None:
    with pytest.raises(ModelError, match="is due"):
        verifier.check(ASKED, SAID, [SHE, OTHER])


def test_a_long_passage_hides_no_other() -> None:
    spam = Passage(id="h", title="Spam", text="His mother is nice. " * 2001)
    for evidence in ([spam, SHE], [SHE, spam]):
        quotes = quotes_of(evidence)
        assert len(quotes) == 2000
        assert [quote.order for quote in quotes] == list(range(2000))
        assert "His mother is Ann Lee." in {quote.text for quote in quotes}
        places = [evidence.index(quote.passage) for quote in quotes]
        assert places == sorted(places)


def test_of_an_endless_title_the_beginning_is_read() -> None:
    (quote,) = quotes_of([Passage(id="t", title="w " * 9000, text="Ann Lee met Bob Ray.")])
    assert len(quote.titled) < 300
