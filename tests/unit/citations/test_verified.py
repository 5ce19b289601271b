"""Verified citations by scripted models: which sets are read, which is kept, and what becomes of the support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from langgraph_evidence.citations import Calibration, Verifier, statements
from langgraph_evidence.citations.quotes import quotes_of
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.types import Passage

FILM = Passage(id="f", title="Polish-Russian War", text="It is a 2009 film. It was directed by Xawery Zulawski.")
MAN = Passage(id="m", title="Xawery Zulawski", text="He is a director. His mother is Malgorzata Braunek.")
OTHER = Passage(id="o", title="Snow White", text="It was directed by Ann Lee.")
ASKED = "Who is the mother of the director of Polish-Russian War?"


class Rules:
    """An entailment model by a rule of premise and hypothesis; it remembers what it was asked."""

    threshold = 0.5

    def __init__(self, entails: Callable[[str, str], float], contradicts: Callable[[str, str], float] | None = None):
        self.entails, self.contradicts, self.read = entails, contradicts, list[tuple[str, str]]()

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Any:
        self.read += pairs
        return np.array([self.entails(*pair) for pair in pairs])

    def labels3(self, pairs: Sequence[tuple[str, str]]) -> Any:
        if self.contradicts is None:
            raise InvalidInput("two labels")
        return np.array([[0.0, 0.0, self.contradicts(*pair)] for pair in pairs]).reshape(-1, 3)


class InOrder:
    """Ranks sentences as they stand."""

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        return [-float(place) for place in range(len(sentences))]


class Prefers:
    """Ranks the sentences that hold one of the words before the others."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def score(self, query: str, sentences: Sequence[str]) -> list[float]:
        return [float(any(word in sentence for word in self.words)) for sentence in sentences]


def both(premise: str, statement: str) -> float:
    return 0.9 if statement.endswith("?") or ("directed by Xawery" in premise and "mother is" in premise) else 0.1


def test_two_quotes_that_prove_it_only_together_are_both_cited_and_no_third() -> None:
    model = Rules(both)
    found = Verifier(model, Prefers("by Xawery", "mother")).check(ASKED, "Malgorzata Braunek", [FILM, OTHER, MAN])
    assert [citation["quote"] for citation in found.citations] == [
        "It was directed by Xawery Zulawski.",
        "His mother is Malgorzata Braunek.",
    ]
    for citation, passage in zip(found.citations, (FILM, MAN), strict=True):
        assert passage["text"][citation["quote_start"] : citation["quote_end"]] == citation["quote"]
        assert (citation["start"], citation["end"], citation["title"]) == (0, 18, passage["title"])
    assert found.support == pytest.approx(0.9)
    assert [sentence["verdict"] for sentence in found.sentences] == ["supported"]
    assert {hypothesis for _, hypothesis in model.read} == {ASKED, f"{ASKED} Malgorzata Braunek"}
    together = (
        "Polish-Russian War: It was directed by Xawery Zulawski. Xawery Zulawski: His mother is Malgorzata Braunek."
    )
    assert together in [premise for premise, _ in model.read]


def test_a_set_in_which_a_name_of_the_answer_does_not_stand_is_not_even_read() -> None:
    model = Rules(lambda *_: 1.0)
    found = Verifier(model, InOrder()).check(ASKED, "Ann Braunek", [FILM, MAN])
    assert (found.citations, found.support, model.read) == ([], 0.0, [])
    assert found.sentences[0]["verdict"] == "unsupported"


def test_of_sets_that_rank_alike_the_one_that_speaks_of_the_questions_names_is_read() -> None:
    model = Rules(lambda *_: 0.9)
    alike = Prefers()
    found = Verifier(model, alike).check("Who directed Polish-Russian War, Xawery or Ann?", "Ann Lee", [FILM, OTHER])
    assert [citation["passage_id"] for citation in found.citations] == ["o"]
    asked = "Is Polish-Russian War by Xawery Zulawski?"
    (quoted,) = Verifier(model, alike).check(asked, "yes", [OTHER, FILM]).citations
    assert quoted["quote"] == "It was directed by Xawery Zulawski."


def test_one_quote_that_proves_it_ends_the_search() -> None:
    model = Rules(lambda premise, _: 0.8 if "mother" in premise else 0.2)
    found = Verifier(model, InOrder()).check("Who is his mother?", "Malgorzata Braunek", [FILM, MAN])
    assert [citation["passage_id"] for citation in found.citations] == ["m"]
    assert all(premise.count(": ") == 1 for premise, statement in model.read if not statement.endswith("?"))


def test_a_statement_that_nothing_entails_keeps_what_comes_nearest() -> None:
    found = Verifier(Rules(lambda *_: 0.3), InOrder()).check("Who is his mother?", "Malgorzata Braunek", [MAN])
    assert found.support == pytest.approx(0.3)
    assert found.sentences[0]["verdict"] == "partly"
    assert len(found.citations) == 1


def test_a_short_answer_to_a_question_that_the_evidence_does_not_answer_is_supported_less() -> None:
    def entails(_premise: str, statement: str) -> float:
        return 0.2 if statement.endswith("?") else 0.8

    verifier = Verifier(Rules(entails), InOrder())
    # The mean of the logits of 0.8 and 0.2 is 0.
    assert verifier.check("Who is his mother?", "Malgorzata Braunek", [MAN]).support == pytest.approx(0.5)
    told = "The mother of the film director Xawery Zulawski is the actress who is called Malgorzata Braunek."
    assert verifier.check("Who is his mother?", told, [MAN]).support == pytest.approx(0.8)


def test_the_calibration_is_of_support_and_decides_no_verdict() -> None:
    verifier = Verifier(Rules(lambda *_: 0.8), InOrder(), calibration=Calibration(slope=2.0, intercept=-1.0))
    found = verifier.check("Who is his mother?", "Malgorzata Braunek", [MAN])
    # 2 log(0.8 / 0.2) - 1 = 1.7726, of which the sigmoid is 0.8548.
    assert found.support == pytest.approx(0.8548, abs=1e-4)
    assert found.sentences[0]["verdict"] == "supported"


def test_another_passage_that_contradicts_a_supported_answer_is_a_conflict() -> None:
    model = Rules(
        lambda premise, _: 0.9 if "Xawery" in premise else 0.1,
        lambda premise, _: 0.95 if "Ann" in premise else 0.0,
    )
    found = Verifier(model, InOrder()).check("Who directed it?", "Xawery Zulawski", [FILM, OTHER])
    (conflict,) = found.conflicts
    assert (conflict["passage_id"], conflict["quote"]) == ("o", "It was directed by Ann Lee.")
    assert not Verifier(Rules(model.entails), InOrder()).check("Who?", "Xawery Zulawski", [FILM, OTHER]).conflicts


def test_nothing_supports_anything_without_evidence_or_words() -> None:
    verifier = Verifier(Rules(lambda *_: 1.0), InOrder())
    assert verifier.check(ASKED, "Ann", []).support == 0.0
    assert verifier.check(ASKED, " ... ", [FILM]).sentences == []
    assert verifier.check(ASKED, "", [FILM]).support == 0.0


def test_a_short_answer_is_read_with_its_question_and_a_sentence_by_itself() -> None:
    assert [s.text for s in statements("Who?", "Ann Lee.")] == ["Who? Ann Lee."]
    told = "The mother of the director of the film Polish-Russian War is an actress called Malgorzata Braunek."
    assert [s.text for s in statements("Who?", told)] == [told]
    assert [s.text for s in statements("Are both Welsh?", "Yes. Ann Lee and Bo Day were born in Cardiff.")] == [
        "Are both Welsh? Yes.",
        "Ann Lee and Bo Day were born in Cardiff.",
    ]


def test_every_quote_stands_in_its_source_letter_for_letter_however_long() -> None:
    long = Passage(id="l", title="Table", text="  1 cell | " * 200 + "end")
    quotes = quotes_of([long, FILM])
    assert all(quote.text == quote.passage["text"][quote.start : quote.end] for quote in quotes)
    assert max(len(quote.text) for quote in quotes) <= 600
    assert "".join(q.text for q in quotes if q.passage["id"] == "l").replace(" ", "") == long["text"].replace(" ", "")
    assert [quote.order for quote in quotes] == list(range(len(quotes)))
