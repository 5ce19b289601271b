"""Replies, passages and files are hostile: what reads them takes time in proportion to their length."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_evidence.citations import LexicalVerifier
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.offline.claims import claim_in
from langgraph_evidence.llm.offline.nested import parts
from langgraph_evidence.llm.offline.questions import analyse, entities
from langgraph_evidence.llm.parse import clean, tagged_lines
from langgraph_evidence.methods.rebel.protocol import (
    parse_answer,
    parse_input,
    parse_split,
    parse_tool_number,
    parse_wording,
    parse_yes_no,
)
from langgraph_evidence.methods.rebel.wording import fill, leans, references
from langgraph_evidence.retrieval import Corpus
from langgraph_evidence.text import content_words, holds, normalise_answer, split_sentences, terms, tokens
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LENGTH = 100_000
SECONDS = 1.0  # each attack took 10 s to hours, and takes a tenth of this now


def _attack(head: str, body: str, tail: str = "") -> str:
    return head + body * (LENGTH // len(body)) + tail


def _seconds(read: Callable[[str], Any], text: str) -> float:
    """The processor time of the best of three readings: other programs on the machine count for nothing."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        with suppress(UnusableReply):
            read(text)
        best = min(best, time.process_time() - start)
        if best < SECONDS:
            break
    return best


READERS: dict[str, Callable[[str], Any]] = {
    "numbered": lambda text: parse_split(text, form="numbered"),
    "commas": lambda text: parse_split(text, form="commas"),
    "yes or no": parse_yes_no,
    "tool": lambda text: parse_tool_number(text, count=3),
    "input": parse_input,
    "answer": parse_answer,
    "wording": parse_wording,
    "leans": leans,
    "references": references,
    "fill": lambda text: fill(text, {1: text}),
    "clean": clean,
    "tagged": lambda text: tagged_lines(text, ("[Search]", "[Answer]", "Question:")),
    "sentences": split_sentences,
    "tokens": tokens,
    "terms": terms,
    "content words": content_words,
    "normal form": normalise_answer,
    "holds": lambda text: holds(text, text[: LENGTH // 2]),
    "analyse": analyse.__wrapped__,
    "entities": entities,
    "nested": parts,
    "claim": claim_in,
    "cite": lambda text: LexicalVerifier().check("Who?", text[: LENGTH // 2], [Passage(id="a", title="T", text=text)]),
}

ATTACKS = [
    _attack("1. q needs 1", " "),
    _attack("1. q needs 1", " ", "x"),
    _attack("1. q", " ", "x"),
    _attack("1. q", " needs 1", "x"),
    _attack("1. q needs ", "1", "x"),
    _attack("1. q needs ", "1 and ", "x"),
    _attack("1. q? ", "( ", "?"),
    _attack("q?", " ", "x?"),
    _attack("q?", "\n ", "x?"),
    _attack("The answer is", "\n"),
    _attack("The answer is", "\n", "x"),
    _attack("the", " ", "x"),
    _attack("yes", " ", "x"),
    _attack("", "#1 "),
    _attack("", '{"a":'),
    _attack('{"a":' * 400, "1,"),
    _attack("[Search] ", "x\n"),
    _attack("<think", " "),
    _attack("", "A. "),
    _attack("", "J. R. Smith, A. B. Jones, "),
    _attack("", "Mr. A"),
    _attack("a.", " ", "x"),
    _attack("a.", "'", "x"),
    _attack('"ab', " ", "x"),
    _attack('"', " ", "x"),
    _attack("", ", A", " or"),
    _attack("", "of the X "),
    _attack("", "A, and B, "),
    _attack("Ab", " and Ab"),
    _attack("", "in the year X "),
    _attack("", "Ab's x "),
    _attack("", "claim \u201c"),
    _attack("", '"ab" Cd '),
]


@pytest.mark.parametrize("name", READERS)
def test_a_hostile_text_is_read_in_time(name: str) -> None:
    slow = {text[:20]: spent for text in ATTACKS if (spent := _seconds(READERS[name], text)) > SECONDS}
    assert slow == {}


@pytest.mark.parametrize("text", [_attack("# a", " ", "x"), _attack("# a", " #", "x"), _attack("# ", "#", "x")])
def test_a_hostile_heading_is_read_in_time(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(text, "utf-8")
    assert _seconds(lambda _: Corpus.load(tmp_path), "") < SECONDS


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Two words #\nbody", "Two words"),
        ("before\n#  Spaced  \nbody", "Spaced"),
        ("# #5 of 1994 ##\nbody", "#5 of 1994"),
        ("#tag\nbody", "page"),
        ("## Second level\nbody", "page"),
        ("#\n\nbody", "page"),
    ],
)
def test_the_title_of_a_page_is_its_first_heading(text: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(text, "utf-8")
    assert Corpus.load(tmp_path)[0]["title"] == title


def test_a_question_beyond_any_length_is_refused_and_not_put_into_every_prompt() -> None:
    with pytest.raises(UnusableReply, match="2000 characters"):
        parse_split(f"1. {'why ' * 1000}?", form="numbered")
    with pytest.raises(UnusableReply):
        parse_wording("why " * 1000)
