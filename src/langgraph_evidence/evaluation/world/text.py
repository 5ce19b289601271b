"""The passages of a closed world: sentences, each with the facts it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.evaluation.world.facts import Entity, Facts

_MONTHS = ("January", "March", "April", "June", "August", "October", "December")
_FILLERS = (
    "Little else is recorded.",
    "Several letters from these years survive in a private archive.",
    "A commemorative stamp was issued a century later.",
    "The records of this time were damaged in a flood.",
    "Visitors often ask about it.",
    "A short documentary was made about the subject.",
    "The local museum keeps a small collection on it.",
)


class Sentence(NamedTuple):
    """One sentence and the names of the facts that it states."""

    text: str
    states: tuple[str, ...] = ()


def sentences_of(facts: Facts, entity: Entity) -> list[Sentence]:
    """The sentences of an entity's passage: what it is first, then its facts in an order of its own."""
    first, *others = _WRITERS[entity.kind](facts, entity)
    others.append(Sentence(_FILLERS[facts.chance(entity, 61, len(_FILLERS))]))
    turn = facts.chance(entity, 62, len(others))
    return [first, *others[turn:], *others[:turn]]


def _person(facts: Facts, person: Entity) -> list[Sentence]:
    name, role, born = facts.name(person), facts.role(person), facts.year(person)
    home = facts.follow(person, "birthplace")
    day = f"{1 + facts.chance(person, 63, 28)} {_MONTHS[facts.chance(person, 64, len(_MONTHS))]} {born}"
    he = "He" if facts.chance(person, 65, 2) else "She"
    grew = ("", " and grew up there", ", the youngest of three children")[facts.chance(person, 66, 3)]
    found = [
        Sentence(f"{name} (born {day}) was {_a(role)} from {facts.region(home)}.", ("year", "role", "home_region")),
        Sentence(f"{he} was born in {facts.mention(home)}{grew}.", ("birthplace",)),
        Sentence(f"{he} studied under {facts.mention(facts.follow(person, 'teacher'))}.", ("teacher",)),
        Sentence(f"{he} worked for {facts.mention(facts.follow(person, 'employer'))} for many years.", ("employer",)),
    ]
    if facts.married(person):
        found.append(Sentence(f"{he} was married to {facts.mention(facts.follow(person, 'spouse'))}.", ("spouse",)))
    return found


def _place(facts: Facts, place: Entity) -> list[Sentence]:
    sort = ("port", "market town", "city", "village")[facts.chance(place, 67, 4)]
    settler = facts.mention(facts.follow(place, "first_settler"))
    people = f"{1 + facts.chance(place, 68, 89)},{100 + facts.chance(place, 69, 900)}"
    return [
        Sentence(
            f"{facts.name(place)} is {_a(sort)} in {facts.region(place)}, on the river {facts.river(place)}.",
            ("region", "river"),
        ),
        Sentence(f"It was founded in {facts.year(place)} by {settler}.", ("year", "first_settler")),
        Sentence(f"It has {people} inhabitants.", ("population",)),
    ]


def _work(facts: Facts, work: Entity) -> list[Sentence]:
    author = facts.mention(facts.follow(work, "author"))
    return [
        Sentence(
            f"{facts.name(work)} is {_a(facts.role(work))} by {author} that appeared in {facts.year(work)}.",
            ("author", "year", "role"),
        ),
        Sentence(f"It was published by {facts.mention(facts.follow(work, 'publisher'))}.", ("publisher",)),
        Sentence(f"The story is set in {facts.mention(facts.follow(work, 'setting'))}.", ("setting",)),
    ]


def _firm(facts: Facts, firm: Entity) -> list[Sentence]:
    board = facts.board(firm)
    founder = facts.mention(facts.follow(firm, "founder"))
    return [
        Sentence(
            f"{facts.name(firm)} is {_a(facts.industry(firm))} firm founded in {facts.year(firm)} by {founder}.",
            ("industry", "year", "founder"),
        ),
        Sentence(f"Its headquarters are in {facts.mention(facts.follow(firm, 'headquarters'))}.", ("headquarters",)),
        Sentence(f"Its directors include {_and([facts.mention(one) for one in board])}.", ("board",)),
    ]


def _event(facts: Facts, event: Entity) -> list[Sentence]:
    others = _and([facts.mention(one) for one in facts.participants(event)])
    sort = facts.contest_kind(event).lower()
    return [
        Sentence(f"The {facts.name(event)} is a yearly {sort} held in {facts.name(facts.follow(event, 'venue'))}."),
        Sentence(
            f"The first one was won by {facts.mention(facts.follow(event, 'winner'))} in {facts.year(event)}.",
            ("winner", "year"),
        ),
        Sentence(f"The other finalists were {others}.", ("participants",)),
        Sentence(f"Its sponsor is {facts.mention(facts.follow(event, 'sponsor'))}.", ("sponsor",)),
    ]


def _list(facts: Facts, entity: Entity) -> list[Sentence]:
    place = facts.follow(entity, "listed_place")
    people = [facts.mention(one) for one in facts.sources(place, "birthplace")[:6]]
    firms = [facts.mention(one) for one in facts.sources(place, "headquarters")[:3]]
    return [
        Sentence(f"This is a list of people and firms from {facts.name(place)}."),
        Sentence(f"People: {'; '.join(people) or 'none known'}."),
        Sentence(f"Firms: {'; '.join(firms) or 'none known'}."),
    ]


def _adaptation(facts: Facts, entity: Entity) -> list[Sentence]:
    original = facts.follow(entity, "original")
    sort = facts.title(entity).rsplit(", ", 1)[1]
    director, firm = facts.follow(entity, "adapter"), facts.follow(entity, "broadcaster")
    return [
        Sentence(f"{facts.name(original)} is {_a(sort)} after the {facts.role(original)} of the same name."),
        Sentence(f"It was directed by {facts.mention(director)}."),
        Sentence(f"It was produced by {facts.mention(firm)}."),
    ]


_WRITERS: dict[str, Callable[[Facts, Entity], list[Sentence]]] = {
    "person": _person,
    "place": _place,
    "work": _work,
    "firm": _firm,
    "event": _event,
    "list": _list,
    "adaptation": _adaptation,
}


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
