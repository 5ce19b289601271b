"""Who and what there is in a closed world, and how it hangs together.

Every fact is a function of the seed and the entity's number, so that any passage can be written without the others, and
every relation can be followed backwards (`Shuffle.sources`), so that an answer is known to be the only one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.world import names
from langgraph_evidence.evaluation.world.names import Shuffle, mix

EntityKind = Literal["person", "place", "work", "firm", "event", "list", "adaptation"]

_BLOCK: tuple[EntityKind, ...] = (
    "person", "place", "work", "person", "firm", "person", "work", "person", "place", "event",
    "person", "work", "person", "list", "person", "place", "work", "firm", "person", "adaptation",
)  # fmt: skip
_SLOTS: dict[EntityKind, list[int]] = {kind: [n for n, one in enumerate(_BLOCK) if one == kind] for kind in _BLOCK}
SMALLEST, LARGEST = 100, 1_000_000

OCCUPATIONS = ("painter", "botanist", "composer", "architect", "astronomer", "novelist", "surgeon", "chemist")
FORMS = ("novel", "opera", "play", "poem")
ADAPTATIONS = ("radio play", "stage version", "television film")
REGIONS = ("Tarn Province", "the Oster Coast", "Lower Vindal", "the Merrow Isles", "Kesh Highlands", "West Aruna")
RIVERS = ("Ilm", "Sorn", "Teveren", "Lagan", "Oum", "Breva", "Kell", "Nadir", "Pesha")

# Every eighth person and every tenth work bears the name of one before it.
_NAMESAKE = {"person": (8, 3), "work": (10, 4)}


class Entity(NamedTuple):
    """One thing of the world: its kind and its number among that kind."""

    kind: EntityKind
    number: int


class Facts:
    """The facts of a world.

    Args:
        seed: Chooses everything that is left to chance.
        size: How many titled passages, one for each entity.

    Raises:
        InvalidInput: The size is out of range.
    """

    def __init__(self, seed: int, size: int) -> None:
        if not SMALLEST <= size <= LARGEST:
            raise InvalidInput(f"A closed world of {size} passages was asked for; it has {SMALLEST} to {LARGEST}.")
        self.seed, self.size = seed, size
        whole, rest = divmod(size, len(_BLOCK))
        self.counts = {kind: whole * len(slots) + sum(n < rest for n in slots) for kind, slots in _SLOTS.items()}
        self._names = {
            "person": Shuffle(names.PERSON_NAMES, mix(seed, 11)),
            "place": Shuffle(names.PLACE_NAMES, mix(seed, 12)),
            "work": Shuffle(names.WORK_NAMES, mix(seed, 13)),
            "firm": Shuffle(names.FIRM_NAMES, mix(seed, 14)),
        }

    def entity(self, position: int) -> Entity:
        """The entity of the passage at a position below size."""
        block, slot = divmod(position, len(_BLOCK))
        kind = _BLOCK[slot]
        return Entity(kind, block * len(_SLOTS[kind]) + _SLOTS[kind].index(slot))

    def position(self, entity: Entity) -> int:
        """The position of an entity's passage."""
        slots = _SLOTS[entity.kind]
        block, offset = divmod(entity.number, len(slots))
        return block * len(_BLOCK) + slots[offset]

    def draw(self, entity: Entity, topic: int, sides: int) -> int:
        """A number below sides, its own for every entity and topic."""
        return mix(self.seed, topic, entity.number) % sides

    @cached_property
    def relations(self) -> dict[str, tuple[EntityKind, EntityKind, Shuffle]]:
        """Every relation by name: whose it is, what it leads to, and the map between their numbers."""
        table: tuple[tuple[str, EntityKind, EntityKind], ...] = (
            ("birthplace", "person", "place"),
            ("employer", "person", "firm"),
            ("teacher", "person", "person"),
            ("author", "work", "person"),
            ("publisher", "work", "firm"),
            ("setting", "work", "place"),
            ("founder", "firm", "person"),
            ("headquarters", "firm", "place"),
            ("first_settler", "place", "person"),
            ("winner", "event", "person"),
            ("sponsor", "event", "firm"),
            ("venue", "event", "place"),
            ("second", "event", "person"),
            ("third", "event", "person"),
            ("director", "firm", "person"),
            ("contest", "firm", "event"),
            ("listed_place", "list", "place"),
            ("original", "adaptation", "work"),
            ("adapter", "adaptation", "person"),
            ("broadcaster", "adaptation", "firm"),
        )
        return {
            name: (source, target, Shuffle(self.counts[target], mix(self.seed, 21, number)))
            for number, (name, source, target) in enumerate(table)
        }

    def follow(self, entity: Entity, relation: str) -> Entity:
        """Where a relation of an entity leads."""
        if relation == "spouse":
            return Entity("person", entity.number ^ 1)
        _, target, shuffle = self.relations[relation]
        number = shuffle(entity.number)
        if target == entity.kind and number == entity.number:  # nobody is their own teacher
            number = (number + 1) % self.counts[target]
        return Entity(target, number)

    def sources(self, entity: Entity, relation: str) -> list[Entity]:
        """Every entity that a relation leads from to this one."""
        source, _, shuffle = self.relations[relation]
        return [Entity(source, number) for number in shuffle.sources(entity.number, self.counts[source])]

    def married(self, person: Entity) -> bool:
        """Whether a person has a spouse; both of a couple say so."""
        couple = person.number // 2
        return 2 * couple + 1 < self.counts["person"] and mix(self.seed, 31, couple) % 4 != 0

    def board(self, firm: Entity) -> list[Entity]:
        """The three directors of a firm; the last of them took part in its contest."""
        contest = self.follow(firm, "contest")
        finalist = self.participants(contest)[self.draw(firm, 32, 2)]
        next_firm = Entity("firm", firm.number + 1)
        first, *others = self._apart([finalist, self.follow(firm, "director"), self.follow(next_firm, "director")])
        return [*others, first]

    def participants(self, event: Entity) -> list[Entity]:
        """The two who took part in an event besides its winner."""
        return self._apart([self.follow(event, "winner"), self.follow(event, "second"), self.follow(event, "third")])[
            1:
        ]

    def _apart(self, people: list[Entity]) -> list[Entity]:
        found: list[Entity] = []
        for one in people:
            person = one
            while person in found:
                person = Entity("person", (person.number + 1) % self.counts["person"])
            found.append(person)
        return found

    def namesake(self, entity: Entity) -> Entity | None:
        """The other entity of the same name, if there is one."""
        every, back = _NAMESAKE.get(entity.kind, (0, 0))
        if not every:
            return None
        place = entity.number % every
        if place == every - 1:
            return Entity(entity.kind, entity.number - back)
        later = entity.number + back
        return Entity(entity.kind, later) if place == every - 1 - back and later < self.counts[entity.kind] else None

    def role(self, entity: Entity) -> str:
        """A person's occupation, a work's form; never the same for two of one name."""
        words = OCCUPATIONS if entity.kind == "person" else FORMS
        other = self.namesake(entity)
        if other is None or other.number > entity.number:
            return words[self.draw(entity, 41, len(words))]
        return words[(words.index(self.role(other)) + 1 + self.draw(entity, 41, len(words) - 1)) % len(words)]

    def name(self, entity: Entity) -> str:
        """The name as it stands in a text; two people or two works may share one."""
        kind, number = entity
        if kind in _NAMESAKE:
            other = self.namesake(entity)
            number = min(number, other.number) if other else number
            make = names.person_name if kind == "person" else names.work_name
            return make(self._names[kind](number))
        if kind == "place":
            return names.place_name(self._names["place"](number))
        if kind == "firm":
            return names.firm_name(self._names["firm"](number))
        return self._composed(entity)

    def _composed(self, entity: Entity) -> str:
        if entity.kind == "event":
            # Below the number of places, every event has a venue of its own, and so a name of its own.
            return f"{self.name(self.follow(entity, 'venue'))} {self.contest_kind(entity)}"
        if entity.kind == "list":
            return f"List of people from {self.name(self.follow(entity, 'listed_place'))}"
        return self.name(self.follow(entity, "original"))

    def contest_kind(self, event: Entity) -> str:
        """Regatta, marathon, ..."""
        return names.CONTESTS[self.draw(event, 42, len(names.CONTESTS))]

    def industry(self, firm: Entity) -> str:
        """The trade of a firm."""
        return names.firm_industry(self._names["firm"](firm.number))

    def title(self, entity: Entity) -> str:
        """The title of an entity's passage; no other passage has it."""
        if entity.kind == "adaptation":
            return f"{self.title(self.follow(entity, 'original'))}, {ADAPTATIONS[self.draw(entity, 43, 3)]}"
        name = self.name(entity)
        return f"{name} ({self.role(entity)})" if self.namesake(entity) else name

    def mention(self, entity: Entity) -> str:
        """The entity in a sentence: its name, with its role before it where the name alone could mean two."""
        name = self.name(entity)
        return f"the {self.role(entity)} {name}" if self.namesake(entity) else name

    def year(self, entity: Entity) -> int:
        """The year of birth, founding, or publication; nobody founds or writes before they are twenty."""
        if entity.kind == "person":
            return 1780 + self.draw(entity, 51, 180)
        maker = {"place": "first_settler", "firm": "founder", "work": "author", "event": "winner"}[entity.kind]
        return self.year(self.follow(entity, maker)) + 20 + self.draw(entity, 52, 30)

    def region(self, place: Entity) -> str:
        """The region that a place lies in."""
        return REGIONS[self.draw(place, 53, len(REGIONS))]

    def river(self, place: Entity) -> str:
        """The river that a place lies on."""
        return RIVERS[self.draw(place, 54, len(RIVERS))]
