"""Claims about a closed world: supported, refuted or not decided by their evidence, each with its natural-logic proof.

A proof aligns spans of the claim with spans of the evidence by operators; the automaton of ProoFVer (Krishna et al.
2022), which AdMIRaL builds on, reads the verdict off them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from langgraph_evidence.evaluation.world.names import mix
from langgraph_evidence.evaluation.world.questions import (
    chain,
    own_paragraphs,
    passage_id,
    passage_of,
    pick,
    sentence_index,
    subject_of,
    value_of,
)
from langgraph_evidence.evaluation.world.text import sentences_of
from langgraph_evidence.evaluation.world.words import WORDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.evaluation.world.facts import Entity, Facts
    from langgraph_evidence.evaluation.world.questions import Hop
    from langgraph_evidence.types import Passage

Operator = Literal["=", "<", ">", "!", "|", "#"]
"""Equivalence, forward entailment (the evidence says more), reverse entailment, negation, alternation, independence."""

Label = Literal["supported", "refuted", "not enough"]

_STEPS: dict[tuple[str, str], Label] = {
    ("supported", "="): "supported",
    ("supported", "<"): "supported",
    ("supported", "!"): "refuted",
    ("supported", "|"): "refuted",
    ("refuted", "="): "refuted",
    ("refuted", ">"): "refuted",
    ("refuted", "!"): "supported",
}
_TRIES = 64


def verdict(operators: Iterable[Operator]) -> Label:
    """The verdict of a proof: the state that the automaton ends in; `not enough` is never left."""
    state: Label = "supported"
    for operator in operators:
        state = _STEPS.get((state, operator), "not enough")
    return state


class ProofStep(NamedTuple):
    """One alignment: a span of the claim, the span of the evidence that bears on it (empty for none), the operator."""

    claim: str
    evidence: str
    operator: Operator


class EvidenceSentence(NamedTuple):
    """One gold sentence, found as `title: text`."""

    passage_id: str
    title: str
    position: int
    text: str


@dataclass(frozen=True)
class Claim:
    """A claim, what is known about it, and what follows.

    Args:
        id: Unique within the world.
        claim: The text.
        label: What the evidence decides.
        evidence: The gold sentences, in the order of the hops; of an undecided claim, those there are.
        proof: Aligns the claim, span by span in its order, with the evidence.
        hops: How many sentences it takes, the missing ones included.
        passages: The claim's own paragraphs.
        fold: Of ten.
    """

    id: str
    claim: str
    label: Label
    evidence: tuple[EvidenceSentence, ...]
    proof: tuple[ProofStep, ...]
    hops: int
    passages: tuple[Passage, ...]
    fold: int


class _Draft(NamedTuple):
    evidence: tuple[EvidenceSentence, ...]
    proof: tuple[ProofStep, ...]
    hops: int
    entities: tuple[Entity, ...]


def claims(facts: Facts, count: int) -> Iterator[Claim]:
    """So many different claims, the labels in turn."""
    seen: set[str] = set()
    for number in range(count):
        make = _MAKERS[number % len(_MAKERS)]
        for attempt in range(_TRIES):
            draft = make(facts, mix(facts.seed, 81, number, attempt))
            text = _text(draft.proof) if draft else ""
            if draft is not None and text not in seen:
                seen.add(text)
                yield _complete(facts, draft, text, number=number)
                break


def _text(proof: Iterable[ProofStep]) -> str:
    words = " ".join(step.claim for step in proof)
    return f"{words[0].upper()}{words[1:]}."


def _complete(facts: Facts, draft: _Draft, text: str, *, number: int) -> Claim:
    first, *others = draft.proof
    entities = own_paragraphs(facts, draft.entities, mix(facts.seed, 82, number))
    return Claim(
        id=f"w{facts.seed}-c{number}",
        claim=text,
        label=verdict(step.operator for step in draft.proof),
        evidence=draft.evidence,
        proof=(first._replace(claim=first.claim[0].upper() + first.claim[1:]), *others),
        hops=draft.hops,
        passages=tuple(passage_of(facts, entity) for entity in entities),
        fold=mix(facts.seed, 83, number) % 10,
    )


def _gold(facts: Facts, entity: Entity, fact: str) -> EvidenceSentence:
    position = sentence_index(facts, entity, fact)
    text = sentences_of(facts, entity)[position].text
    return EvidenceSentence(passage_id(facts, entity), facts.title(entity), position, text)


def _hops(facts: Facts, key: int) -> list[Hop] | None:
    hops = chain(facts, key, 1 + mix(key, 4) % 3)
    # A person's own role stands in the mention of the person already.
    return None if hops is None or hops[-1].fact == "person.role" else hops


def _subject(facts: Facts, hops: list[Hop]) -> ProofStep:
    """Whom the claim is about, found in the evidence as the value of the hop before or as the passage's title."""
    about = facts.title(hops[0].entity) if len(hops) == 1 else hops[-2].value
    words = subject_of(facts, hops)
    return ProofStep(f"the {words}" if len(hops) == 1 and hops[0].entity.kind == "event" else words, about, "=")


def _draft(facts: Facts, hops: list[Hop], *steps: ProofStep, missing: int = 0) -> _Draft:
    known = hops[: len(hops) - missing]
    evidence = tuple(_gold(facts, hop.entity, hop.fact) for hop in known)
    return _Draft(evidence, (_subject(facts, hops), *steps), len(hops), tuple(hop.entity for hop in known))


def _equal(facts: Facts, key: int) -> _Draft | None:
    hops = _hops(facts, key)
    if hops is None:
        return None
    last = hops[-1]
    return _draft(
        facts,
        hops,
        ProofStep(WORDINGS[last.fact].verb, _LINKS[last.fact], "="),
        ProofStep(last.value, last.value, "="),
    )


def _other_value(facts: Facts, key: int) -> _Draft | None:
    """Refuted: another value of the same sort stands where there is but one."""
    hops = _hops(facts, key)
    if hops is None:
        return None
    last = hops[-1]
    wrong = value_of(facts, pick(facts, last.entity.kind, mix(key, 5)), last.fact)
    if wrong == last.value:
        return None
    return _draft(
        facts, hops, ProofStep(WORDINGS[last.fact].verb, _LINKS[last.fact], "="), ProofStep(wrong, last.value, "|")
    )


def _negated(facts: Facts, key: int) -> _Draft | None:
    hops = _hops(facts, key)
    if hops is None:
        return None
    last = hops[-1]
    negated = _not(WORDINGS[last.fact].verb)
    return _draft(facts, hops, ProofStep(negated, _LINKS[last.fact], "!"), ProofStep(last.value, last.value, "="))


def _not(verb: str) -> str:
    first, _, rest = verb.partition(" ")
    if first in {"was", "is"}:
        return f"{first} not {rest}"
    base = {"worked": "work", "studied": "study", "appeared": "appear", "lies": "lie", "has": "have"}[first]
    return f"{'does' if first in {'lies', 'has'} else 'did'} not {base} {rest}"


def _more_general(facts: Facts, key: int) -> _Draft | None:
    """Supported: born in a region, by evidence of a birth in one of its places."""
    person = pick(facts, "person", mix(key, 1))
    home = facts.follow(person, "birthplace")
    evidence = (_gold(facts, person, "birthplace"), _gold(facts, home, "region"))
    proof = (
        ProofStep(facts.mention(person), facts.title(person), "="),
        ProofStep("was born in", "was born in", "="),
        ProofStep(facts.region(home), f"{facts.name(home)} is", "<"),
    )
    return _Draft(evidence, proof, 2, (person, home))


def _more_special(facts: Facts, key: int) -> _Draft | None:
    """Not enough: born in a place, by evidence that names the region alone."""
    person = pick(facts, "person", mix(key, 1))
    home = facts.follow(person, "birthplace")
    region = facts.region(home)
    proof = (
        ProofStep(facts.mention(person), facts.title(person), "="),
        ProofStep("came from", "from", "="),
        ProofStep(facts.mention(home), region, ">"),
    )
    return _Draft((_gold(facts, person, "role"),), proof, 1, (person,))


def _without_last(facts: Facts, key: int) -> _Draft | None:
    """Not enough: the passage of the last hop is not among the evidence."""
    hops = _hops(facts, key)
    if hops is None or len(hops) == 1:
        return None
    last = hops[-1]
    claimed = last.value if key % 2 else value_of(facts, pick(facts, last.entity.kind, mix(key, 6)), last.fact)
    said = ProofStep(f"{WORDINGS[last.fact].verb} {claimed}", "", "#")
    draft = _draft(facts, hops, said, missing=1)
    return None if last.entity in draft.entities else draft


def _unsaid(facts: Facts, key: int) -> _Draft | None:
    """Not enough: a fact that no passage tells is added to one that is known."""
    known = _equal(facts, key)
    if known is None:
        return None
    return known._replace(proof=(*known.proof, ProofStep(_UNSAID[key % len(_UNSAID)], "", "#")))


_UNSAID = (
    "and is the subject of a song",
    "and was painted on a church wall",
    "and is named in the will of a banker",
    "and was once mistaken for a hoax",
)
# The words of a fact's sentence that link owner and value.
_LINKS = {
    "birthplace": "was born in",
    "employer": "worked for",
    "teacher": "studied under",
    "spouse": "was married to",
    "author": "by",
    "publisher": "was published by",
    "setting": "is set in",
    "founder": "founded",
    "headquarters": "headquarters are in",
    "first_settler": "was founded",
    "winner": "was won by",
    "sponsor": "sponsor is",
    "person.year": "born",
    "place.year": "was founded in",
    "firm.year": "founded in",
    "work.year": "appeared in",
    "place.river": "on the river",
    "place.region": "in",
    "firm.industry": "is",
}
_MAKERS = (_equal, _other_value, _without_last, _more_general, _negated, _more_special, _equal, _other_value, _unsaid)
