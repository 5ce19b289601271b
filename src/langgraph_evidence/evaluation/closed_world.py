"""The closed world: a fictional encyclopedia of any size, with questions, claims and proofs, grown from a seed.

Nothing in it can be known beforehand, so that what is answered right was read. The same seed gives the same world on
every machine: it is made of whole numbers and strings alone. Passages are written one by one and never held together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.world import claims as world_claims
from langgraph_evidence.evaluation.world import questions as world_questions
from langgraph_evidence.evaluation.world.facts import Entity, Facts
from langgraph_evidence.evaluation.world.names import mix
from langgraph_evidence.evaluation.world.questions import passage_id, passage_of
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.world.claims import Claim

VERSION = 1
"""Rises when the same seed gives another world."""


class Interpretation(NamedTuple):
    """One way to read an ambiguous question."""

    question: str
    answer: str
    passage_id: str


class Ambiguous(NamedTuple):
    """A question about a name that several bear, and all its readings."""

    id: str
    question: str
    readings: tuple[Interpretation, ...]


class Visit(NamedTuple):
    """One step of a gold trajectory: what to search for, where it is found, and what is read there."""

    query: str
    passage_id: str | None
    answer: str


class WorldPassages(Sequence[Passage]):
    """All passages of a world; each is written when it is asked for."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def __len__(self) -> int:
        return self._facts.size

    @overload
    def __getitem__(self, position: int) -> Passage: ...
    @overload
    def __getitem__(self, position: slice) -> list[Passage]: ...
    def __getitem__(self, position: int | slice) -> Passage | list[Passage]:
        positions = range(self._facts.size)[position]
        if isinstance(positions, range):
            return [passage_of(self._facts, self._facts.entity(number)) for number in positions]
        return passage_of(self._facts, self._facts.entity(positions))


@dataclass(frozen=True)
class ClosedWorld:
    """A world.

    Args:
        seed: Which world.
        size: How many titled passages.
        count: How many questions, and how many claims, it asks; a small world may have fewer.

    Raises:
        InvalidInput: The size or the count is out of range.
    """

    seed: int = 0
    size: int = 1000
    count: int = 200

    def __post_init__(self) -> None:
        if self.seed < 0 or self.count < 1:
            raise InvalidInput(f"A closed world takes a seed from 0 and a count from 1, not {self.seed}, {self.count}.")
        _ = self.facts

    @classmethod
    def parse(cls, text: str) -> ClosedWorld:
        """Reads `seed=7,size=1000,count=200`; what is left out has its default.

        Raises:
            InvalidInput: An unknown name, or a value that is no whole number.
        """
        values: dict[str, int] = {}
        for word in text.split(",") if text else []:
            name, _, value = word.strip().partition("=")
            if name not in {"seed", "size", "count"} or not value.strip().isdecimal():
                raise InvalidInput(f"A closed world is given as seed=7,size=1000,count=200; {word!r} is no part of it.")
            values[name] = int(value)
        return cls(**values)

    @cached_property
    def facts(self) -> Facts:
        """Who and what there is."""
        return Facts(self.seed, self.size)

    @property
    def sha256(self) -> str:
        """Stands for the world's content: seed, size, count and the version of this generator."""
        return hashlib.sha256(f"{VERSION}:{self.seed}:{self.size}:{self.count}".encode()).hexdigest()

    def passages(self) -> WorldPassages:
        """The encyclopedia."""
        return WorldPassages(self.facts)

    def questions(self) -> Iterator[Question]:
        """Questions of one to four hops: single, bridge, comparison, bridge comparison, intersection."""
        return world_questions.questions(self.facts, self.count)

    def claims(self) -> Iterator[Claim]:
        """Claims that their evidence supports, refutes or does not decide, with proofs."""
        return world_claims.claims(self.facts, self.count)

    def ambiguous(self) -> Iterator[Ambiguous]:
        """Questions about a name that two people bear: each reading has its own answer and passage."""
        people = self.facts.counts["person"]
        namesakes = [Entity("person", number) for number in range(7, min(people, 8 * self.count), 8)]
        for number, person in enumerate(namesakes):
            other = self.facts.namesake(person)
            if other is not None:
                yield self._ambiguous(number, (other, person))

    def _ambiguous(self, number: int, people: tuple[Entity, Entity]) -> Ambiguous:
        fact, asked = _ASKED[mix(self.seed, 91, number) % len(_ASKED)]
        readings = tuple(
            Interpretation(
                asked.format(x=self.facts.mention(person)),
                world_questions.value_of(self.facts, person, fact),
                passage_id(self.facts, person),
            )
            for person in people
        )
        return Ambiguous(f"w{self.seed}-a{number}", asked.format(x=self.facts.name(people[0])), readings)


_ASKED = (
    ("birthplace", "Where was {x} born?"),
    ("employer", "Which firm did {x} work for?"),
    ("person.role", "What was the occupation of {x}?"),
    ("person.year", "In which year was {x} born?"),
)


def trajectory(question: Question) -> list[Visit]:
    """The gold search for a question: its decomposition with the answers so far put in, one visit a step."""
    visits: list[Visit] = []
    for step in question.steps:
        query = step.question
        for number in range(len(visits), 0, -1):
            query = query.replace(f"#{number}", visits[number - 1].answer)
        visits.append(Visit(query, step.passage, step.answer))
    return visits
