"""The two sets: answers with one fact changed, and right answers reworded, as many of each kind."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.trust.changes import change_date, change_name, change_number, name_pool
from langgraph_evidence.evaluation.trust.denials import deny, sentence_facts, swap
from langgraph_evidence.evaluation.trust.facts import load_facts
from langgraph_evidence.evaluation.trust.rewordings import REWORDINGS
from langgraph_evidence.evaluation.trust.sources import SETS, chance, own_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from langgraph_evidence.evaluation.trust.facts import Fact
    from langgraph_evidence.evaluation.trust.items import Item

EACH = 400
"""Changed answers of each of five kinds."""
REWORDED = 2000
# A set that has many questions must not be nearly the whole of a kind.
_SHARE = 0.3


def changed_items(root: Path, *, fold: int, each: int = EACH, seed: int = 0) -> list[Item]:
    """Answers with one fact changed: a name, a number, a date, a negation, subject and object swapped.

    Args:
        root: The data folder.
        fold: The fold to make them from.
        each: How many of a kind at most.
        seed: Of every choice.
    """
    facts = load_facts(root, fold=fold, seed=seed)
    pool, rng = name_pool(facts), Random(seed)
    own = _own_words(root, facts, fold=fold, seed=seed)
    makers: tuple[tuple[Sequence[Fact], Callable[[Fact], Item | None]], ...] = (
        (facts, lambda fact: change_name(fact, pool, rng)),
        ([*facts, *own], lambda fact: change_number(fact, rng)),
        ([*facts, *own], lambda fact: change_date(fact, rng)),
        (facts, deny),
        ([*facts, *own], swap),
    )
    return [item for source, make in makers for item in _taken(source, make, each)]


def reworded_items(root: Path, *, fold: int, count: int = REWORDED, seed: int = 0) -> list[Item]:
    """True answers said anew, the ways by turns, so that as many as there are of the rarer ones are in.

    Args:
        root: The data folder.
        fold: The fold to make them from.
        count: How many at most.
        seed: Of every choice.
    """
    facts = load_facts(root, fold=fold, seed=seed)
    own = _own_words(root, facts, fold=fold, seed=seed)
    each = {way: _taken([*facts, *own], make, count) for way, make in REWORDINGS.items()}
    found: list[Item] = []
    # The way with the fewest goes first and leaves its unused share to the others.
    for left, way in enumerate(sorted(each, key=lambda name: len(each[name]))):
        found += each[way][: (count - len(found)) // (len(each) - left)]
    return found


def _own_words(root: Path, facts: Sequence[Fact], *, fold: int, seed: int) -> list[Fact]:
    """Sentences of the facts' evidence and of the other paragraphs of multi-hop questions, in an order by chance."""
    held = [(fact.source, passage) for fact in facts for passage in fact.evidence]
    others = [(SETS[q.dataset], passage) for q in own_questions(root, fold=fold) for passage in q.passages]
    unique = {passage["id"]: (source, passage) for source, passage in reversed([*held, *others])}
    return sorted(sentence_facts(unique.values()), key=lambda fact: chance(str(seed), fact.id))


def _taken(facts: Iterable[Fact], make: Callable[[Fact], Item | None], count: int) -> list[Item]:
    """The first `count` items, no source more than its share while there are others; one a fact."""
    found = [item for fact in facts if (item := make(fact)) is not None]
    taken: dict[str, list[Item]] = {}
    for item in found:
        taken.setdefault(item.source, []).append(item)
    first = [item for items in taken.values() for item in items[: int(_SHARE * count)]]
    rest = [item for items in taken.values() for item in items[int(_SHARE * count) :]]
    if len(first) <= count:
        return [*first, *rest][:count]
    order = {item.fact: place for place, item in enumerate(found)}
    return sorted(first, key=lambda item: order[item.fact])[:count]
