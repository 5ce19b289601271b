"""Chance and names of the closed world: integers and strings only, so that a seed gives the same world everywhere."""

from __future__ import annotations

from functools import cached_property
from math import gcd

_MASK = 2**64 - 1


def mix(*parts: int) -> int:
    """A 64-bit hash of whole numbers (the finaliser of splitmix64, applied to each in turn)."""
    value = 0
    for part in parts:
        value = (value + part + 0x9E3779B97F4A7C15) & _MASK
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
        value ^= value >> 31
    return value


class Shuffle:
    """A map n -> (a n + b) mod size with a coprime to size: one-to-one below size, and invertible beyond.

    Args:
        size: How many values there are.
        key: Chooses a and b.
    """

    def __init__(self, size: int, key: int) -> None:
        self.size = size
        self._shift = mix(key, 1) % size
        # Near three fifths of the size, so that neighbours never get neighbouring values.
        step = size * 3 // 5 + mix(key, 2) % (size // 10 + 1)
        while gcd(step, size) != 1:
            step += 1
        self._step = step

    def __call__(self, number: int) -> int:
        """The value of a number."""
        return (self._step * number + self._shift) % self.size

    @cached_property
    def _back(self) -> int:
        return pow(self._step, -1, self.size)

    def sources(self, value: int, count: int) -> range:
        """All numbers below count that have this value."""
        return range((value - self._shift) * self._back % self.size, count, self.size)


# All starts are two letters and all ends of a table are equally long, so that different parts never spell one name.
_STARTS = tuple(consonant + vowel for consonant in "bdfghklmnrstvz" for vowel in "aeiou")
_FIRST_ENDS = tuple(
    (
        "bel dan den fin gar hal kel lan len lia lin lor mar mir nel nia nor ran ria ric rin ros san sel tan tel tia "
        "tor van vin wen zan"
    ).split()
)
_LAST_ENDS = tuple(
    "beck berg bour dahl dale fell ford gard gate hart holm land lind lock lund mann mere moor more rick sted stow "
    "vale ward wick wood".split()
)
_PLACE_ENDS = tuple("bay den dor gos lis mar nor pol ria sey tal ton van ves".split())
_PLACE_FIRST = ("", "New ", "Upper ", "Port ")
_ADJECTIVES = tuple(
    (
        "Amber Ashen Blind Borrowed Brass Broken Burning Cold Copper Crooked Distant Drowned Empty Endless Fallen "
        "Frozen Gilded Glass Golden Hollow Iron Last Lonely Lost Marble Midnight Nameless Painted Pale Paper Quiet "
        "Restless Salt Secret Silent Silver Sleeping Stolen Velvet Winter"
    ).split()
)
_NOUNS = tuple(
    (
        "Anchor Bell Bridge Candle Caravan Chapel Clock Compass Courtyard Crown Feather Ferry Fountain Garden Harbour "
        "Harvest Island Journey Kingdom Ladder Lantern Letter Map Market Mirror Orchard Parade River Road Sailor "
        "Shadow Shore Staircase Stranger Theatre Tower Train Valley Wedding Window"
    ).split()
)
_OWNERS = tuple(
    (
        "Astronomer Baker Beekeeper Cartographer Clockmaker Cobbler Diver Falconer Ferryman Gardener Glazier Juggler "
        "Lighthouse Locksmith Miller Miner Monk Nurse Orphan Pilot Potter Printer Queen Rope-maker Shepherd Smuggler "
        "Surveyor Tailor Traveller Watchman Weaver Widow"
    ).split()
)
_OWNER_FIRST = ("", "Elder ", "First ", "Hidden ", "Patient ", "Proud ", "Second ", "Tired ", "Unknown ", "Young ")
_TRADES = (
    "Marine Optical Paper Steel Textile Glass Clock Salt Timber Rail Brick Cable Dye Engine Film Grain Lamp Map Organ "
    "Pearl"
).split()
_FIRM_ENDS = ("Works", "Company", "Brothers", "Group")
INDUSTRIES = tuple(
    "marine optical paper steel textile glass clockmaking salt timber railway brick cable dye engine film grain lamp "
    "map organ pearl".split()
)
CONTESTS = ("Regatta", "Chess Open", "Book Fair", "Marathon", "Song Contest", "Flower Show")

PERSON_NAMES = len(_STARTS) * len(_FIRST_ENDS) * len(_STARTS) * len(_LAST_ENDS)
PLACE_NAMES = len(_PLACE_FIRST) * len(_STARTS) ** 2 * len(_PLACE_ENDS)
WORK_NAMES = len(_ADJECTIVES) * len(_NOUNS) * len(_OWNERS) * len(_OWNER_FIRST)
FIRM_NAMES = len(_STARTS) * len(_LAST_ENDS) * len(_TRADES) * len(_FIRM_ENDS)


def person_name(number: int) -> str:
    """The person's name of a number below PERSON_NAMES: `Kalin Modale`."""
    first, last = divmod(number, len(_STARTS) * len(_LAST_ENDS))
    start, end = divmod(first, len(_FIRST_ENDS))
    return f"{_STARTS[start].capitalize()}{_FIRST_ENDS[end]} {_surname(last)}"


def _surname(number: int) -> str:
    start, end = divmod(number, len(_LAST_ENDS))
    return _STARTS[start].capitalize() + _LAST_ENDS[end]


def place_name(number: int) -> str:
    """The place's name of a number below PLACE_NAMES: `Velamar`, `New Velamar`."""
    number, first = divmod(number, len(_PLACE_FIRST))
    number, end = divmod(number, len(_PLACE_ENDS))
    start, middle = divmod(number, len(_STARTS))
    return f"{_PLACE_FIRST[first]}{_STARTS[start].capitalize()}{_STARTS[middle]}{_PLACE_ENDS[end]}"


def work_name(number: int) -> str:
    """The work's name of a number below WORK_NAMES: `The Glass Orchard of the Young Miller`."""
    number, adjective = divmod(number, len(_ADJECTIVES))
    number, noun = divmod(number, len(_NOUNS))
    first, owner = divmod(number, len(_OWNERS))
    return f"The {_ADJECTIVES[adjective]} {_NOUNS[noun]} of the {_OWNER_FIRST[first]}{_OWNERS[owner]}"


def firm_name(number: int) -> str:
    """The firm's name of a number below FIRM_NAMES: `Modale Marine Works`."""
    number, end = divmod(number, len(_FIRM_ENDS))
    surname, trade = divmod(number, len(_TRADES))
    return f"{_surname(surname)} {_TRADES[trade]} {_FIRM_ENDS[end]}"


def firm_industry(number: int) -> str:
    """The trade that the firm's name tells of."""
    return INDUSTRIES[number // len(_FIRM_ENDS) % len(_TRADES)]
