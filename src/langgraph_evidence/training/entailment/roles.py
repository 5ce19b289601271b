"""Who did it to whom: statements of one relation from first sentences of passages, and the same with the names swapped.

A model that was taught by similar sentences reads a statement as a bag of words; here the words of the entailed and of
the other statement are the same, and so is their wording.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.training.base import HELD_OUT_FOLDS
from langgraph_evidence.training.entailment.asked import MULTIHOP
from langgraph_evidence.training.entailment.pairs import NliPair
from langgraph_evidence.training.entailment.questions import sentences_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.training.base import DataFolder

ROLES = "roles"
"""The source of statements of one relation."""

_NAME = r"((?:[A-Z][\w'’.-]+)(?: (?:(?:of|the|de|von|van) )?[A-Z][\w'’.-]+){0,4})"
_ACTIVE = {
    "directed": "directed", "written": "wrote", "produced": "produced", "composed": "composed",
    "founded": "founded", "published": "published", "designed": "designed", "developed": "developed",
    "performed": "performed", "recorded": "recorded", "created": "created", "edited": "edited", "owned": "owns",
    "built": "built", "led": "led", "discovered": "discovered", "invented": "invented", "released": "released",
}  # fmt: skip
_DONE = re.compile(rf"\b({'|'.join(_ACTIVE)}) by {_NAME}")
_PLACED = re.compile(rf"\b(located|situated|based|born|held|set|filmed) in {_NAME}")
_KIN = re.compile(
    r"\b(son|daughter|father|mother|brother|sister|wife|husband|capital|member|part|author|director|founder|president|"
    rf"chairman|student|leader|editor|subsidiary|suburb|district|tributary|sequel|remake) of {_NAME}"
)
_WORD = re.compile(r"\w{2,}")
_BRACKETS = re.compile(r" ?\([^)]*\)")


def _done(found: re.Match[str]) -> tuple[str, ...]:
    return (
        f"{{0}} was {found[1]} by {{1}}.", f"{{1}} {_ACTIVE[found[1]]} {{0}}.",
        f"It was {{1}} who {_ACTIVE[found[1]]} {{0}}.",
    )  # fmt: skip


def _placed(found: re.Match[str]) -> tuple[str, ...]:
    be = "was" if found[1] in {"born", "held", "filmed"} else "is"
    return f"{{0}} {be} {found[1]} in {{1}}.", f"In {{1}}, {{0}} {be} {found[1]}."


def _kin(found: re.Match[str]) -> tuple[str, ...]:
    return f"{{0}} is the {found[1]} of {{1}}.", f"{{1}}'s {found[1]} is {{0}}."


_RELATIONS = ((_DONE, _done), (_PLACED, _placed), (_KIN, _kin))


def role_pairs(passages: Iterable[tuple[str, str]], rng: random.Random) -> Iterator[NliPair]:
    """An entailed statement and one with its names swapped for each relation that a first sentence tells.

    Args:
        passages: Titles and texts.
        rng: Which wording, and whether the second sentence stands beside the first.
    """
    for title, text in passages:
        subject, quotes = _BRACKETS.sub("", title).strip(), sentences_of(title, text)
        if not subject or not quotes:
            continue
        first = _BRACKETS.sub("", quotes[0].text)
        for pattern, wordings in _RELATIONS:
            found = pattern.search(first)
            if found is None or _share(found[2], subject):
                continue
            told = wordings(found)
            premise = " ".join(map(str, quotes[: rng.choice([1, 1, 2])]))
            names = subject, found[2].rstrip(".").removesuffix("'s")
            yield NliPair(ROLES, premise, rng.choice(told).format(*names), "entailment")
            yield NliPair(ROLES, premise, rng.choice(told).format(*reversed(names)), "not_entailment")


def _share(one: str, other: str) -> bool:
    return bool({*_WORD.findall(one.lower())} & {*_WORD.findall(other.lower())})


def passages_of(folder: DataFolder, folds: Iterable[int]) -> list[tuple[str, str]]:
    """Titles and texts of the paragraphs of multi-hop questions in the folds, each title once.

    Paragraphs that a question of a fold kept back has too are left out, unless that fold is asked for.
    """
    wanted = frozenset(folds)
    known = _paragraphs(folder, wanted)
    held = _paragraphs(folder, HELD_OUT_FOLDS - wanted)
    return [(title, text) for title, text in known.items() if title not in held]


def _paragraphs(folder: DataFolder, folds: frozenset[int]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in MULTIHOP:
        file = f"multihop/{name}.jsonl"
        for row in folder.rows(file, folds) if folder.find(file) else ():
            found |= {str(title): " ".join(map(str, texts)) for title, texts in row.get("context") or ()}
    return found
