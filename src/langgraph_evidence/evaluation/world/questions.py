"""Questions of a closed world, each with its only answer, gold decomposition, gold sentences and own paragraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.evaluation.question import GoldStep, Question
from langgraph_evidence.evaluation.world.facts import Entity
from langgraph_evidence.evaluation.world.names import mix
from langgraph_evidence.evaluation.world.text import sentences_of
from langgraph_evidence.evaluation.world.words import ENTITY_FACTS, LITERAL_FACTS, WORDINGS, fact_name
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from langgraph_evidence.evaluation.world.facts import EntityKind, Facts

PARAGRAPHS = 10
_STARTS: tuple[EntityKind, ...] = ("work", "person", "firm", "event", "place", "work")
_COMPARED: tuple[EntityKind, ...] = ("person", "firm", "work")
_ASKED = {
    "person": "Who was born first, {} or {}?",
    "firm": "Which firm was founded first, {} or {}?",
    "work": "Which has the author who was born first, {} or {}?",
}
_TRIES = 64


class Hop(NamedTuple):
    """One fact that a question needs: whose, which, and its value in words."""

    entity: Entity
    fact: str
    value: str


class Draft(NamedTuple):
    """A question before its paragraphs are collected."""

    kind: str
    question: str
    answers: tuple[str, ...]
    steps: tuple[GoldStep, ...]
    hops: tuple[Hop, ...]


def passage_id(facts: Facts, entity: Entity) -> str:
    """The id of an entity's passage in the whole world."""
    return f"w{facts.seed}-{facts.position(entity)}"


def passage_of(facts: Facts, entity: Entity) -> Passage:
    """The passage about an entity."""
    text = " ".join(sentence.text for sentence in sentences_of(facts, entity))
    return Passage(id=passage_id(facts, entity), title=facts.title(entity), text=text)


def sentence_index(facts: Facts, entity: Entity, fact: str) -> int:
    """Which sentence of an entity's passage states a fact."""
    return next(n for n, sentence in enumerate(sentences_of(facts, entity)) if fact_name(fact) in sentence.states)


def pick(facts: Facts, kind: EntityKind, key: int) -> Entity:
    """An entity of a kind by chance."""
    return Entity(kind, key % facts.counts[kind])


def named(facts: Facts, entity: Entity) -> str:
    """The entity as a question names it; a work by its form, as a name alone may be that of its adaptation."""
    if entity.kind == "work":
        return f"the {facts.role(entity)} {facts.name(entity)}"
    return facts.mention(entity)


def value_of(facts: Facts, entity: Entity, fact: str) -> str:
    """A fact's value in words."""
    match fact_name(fact):
        case "year":
            return str(facts.year(entity))
        case "role":
            return facts.role(entity)
        case "river":
            return facts.river(entity)
        case "region":
            return facts.region(entity)
        case "industry":
            return facts.industry(entity)
        case relation:
            return facts.mention(facts.follow(entity, relation))


def answers_of(value: str) -> tuple[str, ...]:
    """Accepted forms of a value: with and without the role before a name or the article before a region."""
    words = value.split()
    if words[0] != "the":
        return (value,)
    return value, " ".join(words[2:] if words[1].islower() else words[1:])


def chain(facts: Facts, key: int, hops: int) -> list[Hop] | None:
    """Follows so many facts from an entity taken by chance; None when it runs in a circle or ends too soon."""
    entity = pick(facts, _STARTS[key % len(_STARTS)], mix(key, 1))
    seen: list[Entity] = [entity]
    found: list[Hop] = []
    for number in range(hops):
        last = number == hops - 1
        names = [name for name in _options(facts, entity, last=last) if fact_name(name) not in _taken(found)]
        if not names:
            return None
        name = names[mix(key, 2, number) % len(names)]
        found.append(Hop(entity, name, value_of(facts, entity, name)))
        if name in LITERAL_FACTS:
            break
        entity = facts.follow(entity, name)
        if entity in seen:
            return None
        seen.append(entity)
    return found


def _taken(hops: Sequence[Hop]) -> tuple[str, ...]:
    return tuple(fact_name(hop.fact) for hop in hops[-1:])


def _options(facts: Facts, entity: Entity, *, last: bool) -> list[str]:
    names = ENTITY_FACTS + (LITERAL_FACTS if last else ())
    mine = [name for name in names if WORDINGS[name].of == entity.kind]
    return [name for name in mine if name != "spouse" or facts.married(entity)]


def bridge(facts: Facts, key: int) -> Draft | None:
    """One to four hops: each answer is what the next hop is asked of."""
    hops = chain(facts, key, 1 + mix(key, 3) % 4)
    if hops is None:
        return None
    asked = subject_of(facts, hops)
    steps = []
    for number, hop in enumerate(hops):
        about = named(facts, hop.entity) if number == 0 else f"#{number}"
        steps.append(GoldStep(WORDINGS[hop.fact].question.format(x=about), hop.value, passage_id(facts, hop.entity)))
    question = WORDINGS[hops[-1].fact].question.format(x=asked)
    kind = "single" if len(hops) == 1 else "bridge"
    return Draft(kind, question, answers_of(hops[-1].value), tuple(steps), tuple(hops))


def subject_of(facts: Facts, hops: Sequence[Hop]) -> str:
    """Whom the last hop is about, in words that start from the first hop's entity."""
    words = named(facts, hops[0].entity)
    for hop in hops[:-1]:
        words = WORDINGS[hop.fact].phrase.format(x=words)
    return words


def comparison(facts: Facts, key: int) -> Draft | None:
    """Which of two is older; the two are a person each, or works that are compared by their authors (four hops)."""
    through = _COMPARED[key % len(_COMPARED)]
    one, other = pick(facts, through, mix(key, 1)), pick(facts, through, mix(key, 2))
    relation = "author" if through == "work" else None
    first, second = (facts.follow(x, relation) if relation else x for x in (one, other))
    if one == other or first == second or facts.year(first) == facts.year(second):
        return None
    fact = f"{first.kind}.year"
    hops = [Hop(x, "author", value_of(facts, x, "author")) for x in (one, other)] if relation else []
    hops += [Hop(x, fact, value_of(facts, x, fact)) for x in (first, second)]
    steps = [_step(facts, hop, number, len(hops)) for number, hop in enumerate(hops)]
    names = named(facts, one), named(facts, other)
    answer = names[0] if facts.year(first) < facts.year(second) else names[1]
    kind = "bridge_comparison" if relation else "comparison"
    return Draft(kind, _ASKED[through].format(*names), answers_of(answer), tuple(steps), tuple(hops))


def _step(facts: Facts, hop: Hop, number: int, hops: int) -> GoldStep:
    about = f"#{number - 1}" if hops == 4 and number >= 2 else named(facts, hop.entity)
    return GoldStep(WORDINGS[hop.fact].question.format(x=about), hop.value, passage_id(facts, hop.entity))


def same_place(facts: Facts, key: int) -> Draft | None:
    """Whether two places lie in the same region: yes or no."""
    one, other = pick(facts, "place", mix(key, 1)), pick(facts, "place", mix(key, 2))
    if one == other:
        return None
    hops = tuple(Hop(x, "place.region", facts.region(x)) for x in (one, other))
    answer = "yes" if hops[0].value == hops[1].value else "no"
    question = f"Do {named(facts, one)} and {named(facts, other)} lie in the same region?"
    return Draft("comparison", question, (answer,), tuple(_step(facts, hop, 0, 2) for hop in hops), hops)


def intersection(facts: Facts, key: int) -> Draft | None:
    """Who stands in two lists: the directors of a firm and the finalists of a contest."""
    firm = pick(facts, "firm", mix(key, 1))
    event = facts.follow(firm, "contest")
    board, finalists = facts.board(firm), facts.participants(event)
    both = [person for person in board if person in finalists]
    if len(both) != 1 or facts.follow(event, "winner") in board:  # the winner was in the final as well
        return None
    directors, others = ("; ".join(facts.mention(x) for x in group) for group in (board, finalists))
    hops = [Hop(firm, "board", directors), Hop(event, "participants", others)]
    steps = [
        GoldStep(f"Who are the directors of {named(facts, firm)}?", directors, passage_id(facts, firm)),
        GoldStep(f"Who were the other finalists of the {named(facts, event)}?", others, passage_id(facts, event)),
        GoldStep("Who is among both #1 and #2?", facts.mention(both[0])),
    ]
    question = f"Which director of {named(facts, firm)} was a finalist of the {named(facts, event)}"
    if key % 2:
        return Draft("intersection", f"{question}?", answers_of(facts.mention(both[0])), tuple(steps), tuple(hops))
    year = str(facts.year(both[0]))
    hops.append(Hop(both[0], "person.year", year))
    steps.append(GoldStep("In which year was #3 born?", year, passage_id(facts, both[0])))
    return Draft("intersection", f"{question}, and in which year were they born?", (year,), tuple(steps), tuple(hops))


_MAKERS: tuple[Callable[[Facts, int], Draft | None], ...] = (
    bridge, bridge, comparison, bridge, intersection, bridge, same_place, bridge,
)  # fmt: skip


def questions(facts: Facts, count: int) -> Iterator[Question]:
    """So many different questions; the next one's kind does not depend on how many were asked for.

    A small world has only so many: it gives what it has.
    """
    asked: set[str] = set()
    for number in range(count):
        make = _MAKERS[number % len(_MAKERS)]
        for attempt in range(_TRIES):
            draft = make(facts, mix(facts.seed, 71, number, attempt))
            if draft is not None and draft.question not in asked:
                asked.add(draft.question)
                yield _complete(facts, draft, number)
                break


def _complete(facts: Facts, draft: Draft, number: int) -> Question:
    gold = list(dict.fromkeys(hop.entity for hop in draft.hops))
    entities = own_paragraphs(facts, gold, mix(facts.seed, 72, number))
    places = {(facts.title(hop.entity), sentence_index(facts, hop.entity, hop.fact)) for hop in draft.hops}
    return Question(
        id=f"w{facts.seed}-q{number}",
        question=draft.question[0].upper() + draft.question[1:],
        answers=draft.answers,
        dataset="closed-world",
        kind=draft.kind,
        hops=len(gold),
        passages=tuple(passage_of(facts, entity) for entity in entities),
        gold_passages=tuple(passage_id(facts, entity) for entity in gold),
        gold_titles=tuple(facts.title(entity) for entity in gold),
        supporting_facts=tuple(sorted(places)),
        sentences={passage_id(facts, x): tuple(s.text for s in sentences_of(facts, x)) for x in entities},
        fold=mix(facts.seed, 73, number) % 10,
        steps=draft.steps,
    )


def own_paragraphs(facts: Facts, gold: Sequence[Entity], key: int) -> list[Entity]:
    """The gold entities among those that are easily taken for them, in an order by chance."""
    near = [other for entity in gold for other in _confusable(facts, entity)]
    drawn = [facts.entity(mix(key, n) % facts.size) for n in range(2 * PARAGRAPHS)]
    chosen = list(dict.fromkeys([*gold, *near[: PARAGRAPHS - 2], *drawn]))[: max(PARAGRAPHS, len(gold))]
    return sorted(chosen, key=lambda entity: mix(key, 99, facts.position(entity)))


def _confusable(facts: Facts, entity: Entity) -> Iterator[Entity]:
    """What shares a name, a place or a work with an entity."""
    other = facts.namesake(entity)
    if other:
        yield other
    match entity.kind:
        case "place":
            yield from facts.sources(entity, "listed_place")
            yield from facts.sources(entity, "birthplace")[:1]
        case "work":
            yield from facts.sources(entity, "original")
        case "person":
            yield from facts.sources(entity, "author")[:1]
        case "firm":
            yield from facts.sources(entity, "employer")[:1]
        case _:
            yield facts.follow(entity, "venue")
