"""The second witness: which questions it is asked, which answers count as the same, what becomes of the support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from langgraph_evidence.citations import Verifier, statements
from langgraph_evidence.citations.quotes import quotes_of
from langgraph_evidence.citations.witness import says_the_same, told_again
from langgraph_evidence.types import Passage

LIFE = Passage(id="l", title="Ann Lee", text="Ann Lee was born on 3 May 1901 and died on 9 June 1977. She met Bob Ray.")


class Given(NamedTuple):
    text: str
    score: float


class Scripted:
    """A reader that gives what a script has for a question; it remembers what it was asked."""

    def __init__(self, **answers: list[Given]) -> None:
        self.answers, self.asked = answers, list[str]()

    def candidates(self, question: str, passages: Sequence[str], k: int = 5) -> Sequence[Given]:
        assert passages == ["Ann Lee: Ann Lee was born on 3 May 1901 and died on 9 June 1977."]
        self.asked.append(question)
        return self.answers.get("any", [])


class Entails:
    threshold = 0.5

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.full(len(pairs), 0.8)

    def labels3(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.zeros((len(pairs), 3))


class InOrder:
    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        return [-float(place) for place in range(len(sentences))]


@pytest.mark.parametrize(
    ("said", "given", "same"),
    [
        ("3 May 1901", "May 3, 1901", True),
        ("3 May 1901", "1901", False),
        ("1901", "3 May 1901", True),
        ("3 May 1901", "9 June 1977", False),
        ("Steven Spielberg", "Spielberg", True),
        ("Spielberg", "director Steven Spielberg", True),
        ("Steven Spielberg", "George Lucas", False),
        ("Steven Spielberg", "the director", False),
        ("He was born in Paris.", "Paris", True),
        ("yes", "yes", True),
        ("Yes, they were.", "yes", True),
        ("no", "yes", False),
        ("a painter", "painter", True),
        ("12 men", "twelve men", True),
        ("12 men", "men", False),
        ("...", "yes", False),
        ("Elizabeth I", "Elizabeth II", False),
        ("Henry V", "Henry VIII", False),
        ("Elizabeth", "Elizabeth II", False),
        ("not Paris", "Paris", False),
        ("Paris", "not Paris", False),
        ("He wasn't born in Paris.", "Paris", False),
        ("Barack Obama and Donald Trump", "Barack Obama", False),
        ("Barack Obama, Donald Trump", "Barack Obama", False),
        ("Barack Obama & Donald Trump", "Barack Obama", False),
        ("10 miles", "10 km", False),
        ("10 days", "10 years", False),
        ("10%", "10 km", False),
        ("$10", "\u00a310", False),
        ("44 people", "the 44th president", False),
        ("-5", "5", False),
        ("5", "-5", False),
        ("44", "44 BC", False),
        ("44 BC", "44", False),
        ("before 1990", "1990", False),
        ("1990", "after 1990", False),
        ("before 1990", "after 1990", False),
        ("before the war", "the war", False),
        ("no", "no one", False),
        ("no one", "no", False),
        ("a billion people", "a million people", False),
        ("a painter " * 500, "painter", False),
        ("10 men", "ten men", True),
        ("12 men", "12", True),
        ("10 km", "10 kilometres", True),
        ("10 feature films", "10 films", True),
        ("$10 million", "10 million dollars", True),
        ("10%", "10 percent", True),
        ("44 BC", "44 BCE", True),
        ("before 1990", "before 1990", True),
        ("He was named after Paul.", "Paul", True),
        ("No. 5", "5", True),
        ("No, they were not.", "no", True),
        ("George W. Bush", "Bush", True),
        ("University of Oxford", "Oxford", True),
        ("King George V", "George V", True),
    ],
)
def test_which_answers_say_the_same(said: str, given: str, same: bool) -> None:
    assert says_the_same(said, given) is same


def test_a_short_answer_is_asked_for_by_its_question() -> None:
    reader = Scripted(any=[Given("9 June 1977", 0.6), Given("3 May 1901", 0.3), Given("1901", 0.4)])
    (short,) = statements("When was she born?", "3 May 1901")
    assert told_again(reader, "When was she born?", short, quotes_of([LIFE])[:1]) == 0.3
    assert reader.asked == ["When was she born?"]


def test_of_a_sentence_each_date_is_asked_for_that_the_quotes_rival() -> None:
    reader = Scripted(any=[Given("3 May 1901", 0.7)])
    told = "It is well known to all the people of the town that Ann Lee was born on 9 June 1977."
    (long,) = statements("", told)
    assert told_again(reader, "", long, quotes_of([LIFE])[:1]) == 0.0
    assert reader.asked == ["It is well known to all the people of the town that Ann Lee was born when?"]
    both = "All the people of the town know well that Ann Lee lived from 9 June 1901 to 3 May 1977."
    swapped = Scripted(any=[Given("3 May 1901", 0.7)])
    assert told_again(swapped, "", statements("", both)[0], quotes_of([LIFE])[:1]) == 0.0
    assert [asked.count("when") for asked in swapped.asked] == [1, 1]
    again = "All the people of the town know that Ann Lee came in 1950 " + "and in 1950 " * 500 + "again."
    repeated = Scripted()
    told_again(repeated, "", statements("", again)[0], quotes_of([LIFE])[:1])
    assert len(repeated.asked) == 1
    assert max(map(len, repeated.asked)) < 400
    none = "All the people of the town know very well who Ann Lee was and what she did."
    assert told_again(Scripted(), "", statements("", none)[0], quotes_of([LIFE])[:1]) is None


@pytest.mark.parametrize(("given", "told"), [("3 May 1901", 0.9), ("9 June 1977", 0.005)])
def test_support_falls_where_the_reader_gives_another_answer(given: str, told: float) -> None:
    verifier = Verifier(Entails(), InOrder(), reader=Scripted(any=[Given(given, 0.9)]))
    found = verifier.check("When was she born?", "3 May 1901", [LIFE])
    mean = (2 * math.log(0.8 / 0.2) + math.log(told / (1 - told))) / 3
    assert found.support == pytest.approx(1 / (1 + math.exp(-mean)))
    assert found.sentences[0]["verdict"] == ("supported" if told > 0.1 else "partly")


def test_without_a_reader_there_is_one_witness() -> None:
    assert Verifier(Entails(), InOrder()).check("When was she born", "3 May 1901", [LIFE]).support == pytest.approx(0.8)
