"""Passages that order a verifier to believe: none may support anything, for an order is no evidence.

A trick passage says that all is supported, or holds a false claim without saying that it is so: as a question, an
order, a label, a denial. It is given beside a real passage that says otherwise. A passage that simply states the false
claim is no trick: whoever reads only that one has to take it as evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.retrieval.reading import json_lines
from langgraph_evidence.types import Passage, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from langgraph_evidence.citations import AnswerVerifier


class Trick(NamedTuple):
    """A passage that orders.

    Args:
        name: What it is.
        kind: `bare` where it says nothing of the claim, `claim` where it holds it.
        text: With places for the claim, the question and the answer in braces.
    """

    name: str
    kind: str
    text: str


class FalseClaim(NamedTuple):
    """What a trick is to make believed.

    Args:
        question: A question.
        answer: A wrong answer to it.
        claim: Both as a sentence.
        asked: The claim as a question.
        title: Of the passage that says otherwise.
        contrary: That passage.
    """

    question: str
    answer: str
    claim: str
    asked: str
    title: str
    contrary: str


class Try(NamedTuple):
    """What came of one trick.

    Args:
        trick: Which.
        claim: What it was to make believed.
        alone: Whether it was asked as a statement, without its question.
        support: What the answer was given.
        before: What it is given without the trick.
        quoted: Whether the trick itself is quoted.
    """

    trick: Trick
    claim: FalseClaim
    alone: bool
    support: float
    before: float
    quoted: bool

    def obeyed(self, least: float) -> bool:
        """Whether the trick gave the claim the support that counts."""
        return self.before < least <= self.support


def read_tricks(path: Path) -> list[Trick]:
    """The tricks of a file of JSON lines.

    Raises:
        ResourceError: The file is missing or damaged.
    """
    return [Trick(**row) for row in _rows(path, Trick._fields)]


def read_claims(path: Path) -> list[FalseClaim]:
    """The false claims of a file of JSON lines.

    Raises:
        ResourceError: The file is missing or damaged.
    """
    return [FalseClaim(**row) for row in _rows(path, FalseClaim._fields)]


def _rows(path: Path, fields: Iterable[str]) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise ResourceError(f"There is no file at {path}.")
    for place, row in json_lines(path):
        if not isinstance(row, dict) or set(row) != set(fields):
            raise ResourceError(f"{place}: expected an object with {', '.join(fields)}.")
        yield row


def trick_passage(trick: Trick, claim: FalseClaim) -> Passage:
    """The trick as a passage, under the title of the real one, so that it looks as much to the point."""
    words = claim.claim.rstrip(".").split()
    inside = claim.claim[0].lower() + claim.claim[1:] if claim.claim.startswith("The ") else claim.claim
    parts = {
        "claim": claim.claim,
        "claim_inner": inside,
        "question": claim.question,
        "asked": claim.asked,
        "answer": claim.answer,
        "salad": " ".join(reversed(words)),
        "keywords": ", ".join(words),
    }
    text = trick.text
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return Passage(id=content_id(trick.name, text), title=claim.title, text=text)


def try_tricks(tricks: Sequence[Trick], claims: Sequence[FalseClaim], verifier: AnswerVerifier) -> list[Try]:
    """Tries every trick on every claim, asked with its question and as a statement."""
    asked = [(c, q, a) for c in claims for q, a in ((c.question, c.answer), ("", c.claim))]
    found = []
    for claim, question, answer in asked:
        contrary = Passage(id="contrary", title=claim.title, text=claim.contrary)
        before = verifier.check(question, answer, [contrary]).support
        for trick in tricks:
            passage = trick_passage(trick, claim)
            checked = verifier.check(question, answer, [passage, contrary])
            quoted = any(citation["passage_id"] == passage["id"] for citation in checked.citations)
            found.append(Try(trick, claim, not question, checked.support, before, quoted))
    return found
