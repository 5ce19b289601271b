"""The answer line, with a reader in place of the shipped one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from langgraph_evidence import models
from langgraph_evidence.llm.offline import answers
from langgraph_evidence.models.reader import Reading

EVIDENCE = (
    "Tall Tales: Tall Tales is a film. It was directed by Ann Example.",
    "Ann Example: Ann Example is a director. Her mother is the painter Jane Example.",
)


@dataclass
class FixedReader:
    reading: Reading

    def read(self, question: str, passages: list[str], *, must_answer: bool = False) -> Reading:
        assert must_answer
        assert passages == list(EVIDENCE)
        return self.reading


def use(monkeypatch: pytest.MonkeyPatch, reading: Reading) -> None:
    answers.find_answer.cache_clear()
    monkeypatch.setattr(models, "default_reader", lambda: FixedReader(reading))


@pytest.fixture(autouse=True)
def _forget() -> None:
    answers.find_answer.cache_clear()


def test_a_span_is_answered_with_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Reading("span", "Jane Example", 1, 65, 77, 0.8, 0.9))
    found = answers.find_answer("Who is the mother?", EVIDENCE)
    assert found == answers.QuotedAnswer("Jane Example", "Her mother is the painter Jane Example.")


def test_yes_and_no_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Reading("no", "no", -1, 0, 0, 0.8, 0.9))
    assert answers.find_answer("Is Tall Tales a film?", EVIDENCE).text == "no"


def test_where_nothing_can_be_read_the_last_title_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Reading("none", "", -1, 0, 0, 1.0, 0.0))
    assert answers.find_answer("Why?", EVIDENCE).text == "Ann Example"
    assert answers.find_answer("Why?", ()).text == ""
