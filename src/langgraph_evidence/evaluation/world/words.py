"""How the facts of a closed world are asked for, spoken of and claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from langgraph_evidence.evaluation.world.facts import EntityKind


class Wording(NamedTuple):
    """The words for one fact; `{x}` stands for whom or what it is about.

    Args:
        of: Whose fact it is.
        question: Asks for it.
        phrase: Names its value by its owner; empty where the value is no entity.
        verb: States it: `<owner> <verb> <value>`.
    """

    of: EntityKind
    question: str
    phrase: str
    verb: str


WORDINGS: dict[str, Wording] = {
    "birthplace": Wording("person", "Where was {x} born?", "the birthplace of {x}", "was born in"),
    "employer": Wording("person", "Which firm did {x} work for?", "the firm that {x} worked for", "worked for"),
    "teacher": Wording("person", "Under whom did {x} study?", "the teacher of {x}", "studied under"),
    "spouse": Wording("person", "To whom was {x} married?", "the spouse of {x}", "was married to"),
    "author": Wording("work", "Who is the author of {x}?", "the author of {x}", "is by"),
    "publisher": Wording("work", "Which firm published {x}?", "the publisher of {x}", "was published by"),
    "setting": Wording("work", "Where is {x} set?", "the place where {x} is set", "is set in"),
    "founder": Wording("firm", "Who founded {x}?", "the founder of {x}", "was founded by"),
    "headquarters": Wording(
        "firm", "Where are the headquarters of {x}?", "the place where {x} has its headquarters", "has headquarters in"
    ),
    "first_settler": Wording("place", "Who founded {x}?", "the founder of {x}", "was founded by"),
    "winner": Wording("event", "Who won the first {x}?", "the first winner of the {x}", "was first won by"),
    "sponsor": Wording("event", "Which firm is the sponsor of the {x}?", "the sponsor of the {x}", "is sponsored by"),
    "person.year": Wording("person", "In which year was {x} born?", "", "was born in"),
    "place.year": Wording("place", "In which year was {x} founded?", "", "was founded in"),
    "firm.year": Wording("firm", "In which year was {x} founded?", "", "was founded in"),
    "work.year": Wording("work", "In which year did {x} appear?", "", "appeared in"),
    "person.role": Wording("person", "What was the occupation of {x}?", "", "was by profession"),
    "place.river": Wording("place", "On which river does {x} lie?", "", "lies on the river"),
    "place.region": Wording("place", "In which region does {x} lie?", "", "lies in"),
    "firm.industry": Wording("firm", "In which industry is {x} active?", "", "is active in the industry of"),
}

ENTITY_FACTS = tuple(name for name, wording in WORDINGS.items() if wording.phrase)
LITERAL_FACTS = tuple(name for name, wording in WORDINGS.items() if not wording.phrase)


def fact_name(name: str) -> str:
    """The fact as a passage's sentence knows it: `person.year` is `year`."""
    return name.rpartition(".")[2]
