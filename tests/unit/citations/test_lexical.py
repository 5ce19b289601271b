"""Citations are computed from evidence: quotes at their places, the smallest covering set, no source but those held."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_evidence.citations import LexicalVerifier, cited_message
from langgraph_evidence.types import Citation, Passage

CAPITAL = Passage(id="fr", title="France", text="France is a country. Its capital is Paris, said Dr. Noe. It is big.")
RIVER = Passage(id="se", title="Seine", text="The Seine flows through Paris. It is 777 km long.")
NOISE = Passage(id="no", title="Tuba", text="A tuba is a brass instrument.")


def cite(question: str, answer: str, evidence: list[Passage]) -> list[Citation]:
    return LexicalVerifier().check(question, answer, evidence).citations


def test_the_quote_names_the_answer_and_its_place_is_right() -> None:
    (citation,) = cite("What is the capital of France?", "Paris", [NOISE, CAPITAL])
    assert citation["passage_id"] == "fr"
    assert citation["quote"] == "Its capital is Paris, said Dr. Noe."
    assert CAPITAL["text"][citation["quote_start"] : citation["quote_end"]] == citation["quote"]
    assert (citation["start"], citation["end"]) == (0, 5)
    assert citation["support"] == 1.0  # capital, france (the title), paris


def test_a_further_passage_is_cited_only_for_words_that_no_other_has() -> None:
    citations = cite("How long is the river through the capital of France?", "777 km", [CAPITAL, RIVER, RIVER, NOISE])
    assert [citation["passage_id"] for citation in citations] == ["se", "fr"]
    # Of long, river, capital, france, 777, km the first quote holds long, 777, km, the second capital, france.
    assert [round(citation["support"] * 6) for citation in citations] == [5, 5]


@pytest.mark.parametrize(
    ("question", "answer"), [("Who?", ""), ("Who?", "  "), ("Which instrument is it?", "xylophone")]
)
def test_nothing_is_cited_for_nothing(question: Any, answer: Any) -> None:
    assert cite(question, answer, [CAPITAL]) == []


def test_one_shared_word_is_no_reason_to_cite() -> None:
    born = Passage(id="b", title="Zhang Ye", text="Zhang Ye (born 1989) is a footballer.")
    citations = cite("Where was the ruler of France born?", "Paris", [CAPITAL, born])
    assert [citation["passage_id"] for citation in citations] == ["fr"]


def test_yes_is_cited_by_what_covers_the_question() -> None:
    (citation,) = cite("Is Paris the capital of France?", "yes", [NOISE, CAPITAL])
    assert citation["passage_id"] == "fr"


def test_the_message_carries_langchain_citations() -> None:
    message = cited_message("Paris", cite("What is the capital of France?", "Paris", [CAPITAL]), name="furepa")
    assert message.text == "Paris"
    block: Any = message.content_blocks[0]
    (annotation,) = block["annotations"]
    assert (annotation["type"], annotation["title"], annotation["start_index"], annotation["end_index"]) == (
        "citation",
        "France",
        0,
        5,
    )
    assert annotation["extras"]["passage_id"] == "fr"


def test_the_sentence_that_names_the_answer_is_quoted_before_one_that_says_more() -> None:
    town = Passage(id="p", title="Paris", text="A river flows through the capital of France. It is the Seine.")
    (citation,) = cite("Which river flows past the capital of France?", "Seine", [town])
    # The first sentence has four words of river, flows, past, capital, france, seine; the second has one.
    assert (citation["quote"], citation["quote_start"]) == ("It is the Seine.", 45)
    assert citation["support"] == pytest.approx(1 / 6)


def test_the_passage_that_names_the_answer_is_cited_first_though_another_says_more() -> None:
    says = Passage(id="says", title="Club", text="The club of the stadium in Gwalior was founded in spring.")
    names = Passage(id="names", title="Ann Lee", text="Ann Lee founded clubs.")
    citations = cite("Who founded the club of the stadium in Gwalior?", "Ann Lee", [says, names])
    assert [citation["passage_id"] for citation in citations] == ["names", "says"]


def test_each_sentence_of_an_answer_has_its_own_quotes_and_the_least_supported_one_decides() -> None:
    answer = "The capital of France is Paris. The moon is made of cheese."
    found = LexicalVerifier().check("What is the capital of France?", answer, [CAPITAL, NOISE])
    first, second = found.sentences
    assert (answer[first["start"] : first["end"]], first["verdict"]) == ("The capital of France is Paris.", "supported")
    assert (answer[second["start"] : second["end"]], second["verdict"]) == (
        "The moon is made of cheese.",
        "unsupported",
    )
    assert (found.support, found.cited_by) == (0.0, "lexical")


def test_a_title_that_stands_in_the_text_as_a_heading_is_no_quote() -> None:
    tarn = Passage(id="t", title="Tarn", text="# Tarn Tarn! The Tarn flows past Albi.")
    (citation,) = cite("Which river flows past Albi?", "Tarn", [tarn])
    assert citation["quote"] == "The Tarn flows past Albi."


def test_a_further_passage_is_chosen_by_what_it_adds_not_by_all_that_it_shares() -> None:
    first = Passage(id="first", title="", text="Alpha beta gamma delta.")
    again = Passage(id="again", title="", text="Alpha beta gamma epsilon.")
    rest = Passage(id="rest", title="", text="Epsilon zeta.")
    citations = cite("", "Alpha beta gamma delta epsilon zeta", [first, again, rest])
    assert [citation["passage_id"] for citation in citations] == ["first", "rest"]
