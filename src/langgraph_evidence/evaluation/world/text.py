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


class Statement(NamedTuple):
    """One sentence and the names of the facts that it states."""

    text: str
    states: tuple[str, ...] = ()


def sentences_of(facts: Facts, entity: Entity) -> list[Statement]:
    """The sentences of an entity's passage: what it is first, then its facts in an order of its own."""
    first, *others = _WRITERS[entity.kind](facts, entity)
    others.append(Statement(_FILLERS[facts.draw(entity, 61, len(_FILLERS))]))
    turn = facts.draw(entity, 62, len(others))
    return [first, *others[turn:], *others[:turn]]


def _person(facts: Facts, person: Entity) -> list[Statement]:
    name, role, born = facts.name(person), facts.role(person), facts.year(person)
    home = facts.follow(person, "birthplace")
    day = f"{1 + facts.draw(person, 63, 28)} {_MONTHS[facts.draw(person, 64, len(_MONTHS))]} {born}"
    he = "He" if facts.draw(person, 65, 2) else "She"
    grew = ("", " and grew up there", ", the youngest of three children")[facts.draw(person, 66, 3)]
    found = [
        Statement(f"{name} (born {day}) was {_a(role)} from {facts.region(home)}.", ("year", "role", "home_region")),
        Statement(f"{he} was born in {facts.mention(home)}{grew}.", ("birthplace",)),
        Statement(f"{he} studied under {facts.mention(facts.follow(person, 'teacher'))}.", ("teacher",)),
        Statement(f"{he} worked for {facts.mention(facts.follow(person, 'employer'))} for many years.", ("employer",)),
    ]
    if facts.married(person):
        found.append(Statement(f"{he} was married to {facts.mention(facts.follow(person, 'spouse'))}.", ("spouse",)))
    return found


def _place(facts: Facts, place: Entity) -> list[Statement]:
    sort = ("port", "market town", "city", "village")[facts.draw(place, 67, 4)]
    settler = facts.mention(facts.follow(place, "first_settler"))
    people = f"{1 + facts.draw(place, 68, 89)},{100 + facts.draw(place, 69, 900)}"
    return [
        Statement(
            f"{facts.name(place)} is {_a(sort)} in {facts.region(place)}, on the river {facts.river(place)}.",
            ("region", "river"),
        ),
        Statement(f"It was founded in {facts.year(place)} by {settler}.", ("year", "first_settler")),
        Statement(f"It has {people} inhabitants.", ("population",)),
    ]


def _work(facts: Facts, work: Entity) -> list[Statement]:
    author = facts.mention(facts.follow(work, "author"))
    return [
        Statement(
            f"{facts.name(work)} is {_a(facts.role(work))} by {author} that appeared in {facts.year(work)}.",
            ("author", "year", "role"),
        ),
        Statement(f"It was published by {facts.mention(facts.follow(work, 'publisher'))}.", ("publisher",)),
        Statement(f"The story is set in {facts.mention(facts.follow(work, 'setting'))}.", ("setting",)),
    ]


def _firm(facts: Facts, firm: Entity) -> list[Statement]:
    board = facts.board(firm)
    founder = facts.mention(facts.follow(firm, "founder"))
    return [
        Statement(
            f"{facts.name(firm)} is {_a(facts.industry(firm))} firm founded in {facts.year(firm)} by {founder}.",
            ("industry", "year", "founder"),
        ),
        Statement(f"Its headquarters are in {facts.mention(facts.follow(firm, 'headquarters'))}.", ("headquarters",)),
        Statement(f"Its directors include {_and([facts.mention(one) for one in board])}.", ("board",)),
    ]


def _event(facts: Facts, event: Entity) -> list[Statement]:
    others = _and([facts.mention(one) for one in facts.participants(event)])
    sort = facts.contest_kind(event).lower()
    return [
        Statement(f"The {facts.name(event)} is a yearly {sort} held in {facts.name(facts.follow(event, 'venue'))}."),
        Statement(
            f"The first one was won by {facts.mention(facts.follow(event, 'winner'))} in {facts.year(event)}.",
            ("winner", "year"),
        ),
        Statement(f"The other finalists were {others}.", ("participants",)),
        Statement(f"Its sponsor is {facts.mention(facts.follow(event, 'sponsor'))}.", ("sponsor",)),
    ]


def _list(facts: Facts, entity: Entity) -> list[Statement]:
    place = facts.follow(entity, "listed_place")
    people = [facts.mention(one) for one in facts.sources(place, "birthplace")[:6]]
    firms = [facts.mention(one) for one in facts.sources(place, "headquarters")[:3]]
    return [
        Statement(f"This is a list of people and firms from {facts.name(place)}."),
        Statement(f"People: {'; '.join(people) or 'none known'}."),
        Statement(f"Firms: {'; '.join(firms) or 'none known'}."),
    ]


def _adaptation(facts: Facts, entity: Entity) -> list[Statement]:
    original = facts.follow(entity, "original")
    sort = facts.title(entity).rsplit(", ", 1)[1]
    director, firm = facts.follow(entity, "adapter"), facts.follow(entity, "broadcaster")
    return [
        Statement(f"{facts.name(original)} is {_a(sort)} after the {facts.role(original)} of the same name."),
        Statement(f"It was directed by {facts.mention(director)}."),
        Statement(f"It was produced by {facts.mention(firm)}."),
    ]


_WRITERS: dict[str, Callable[[Facts, Entity], list[Statement]]] = {
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
