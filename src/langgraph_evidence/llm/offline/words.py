"""Words as the offline model compares them: lower case, without the common ones, cut to a stem."""

from __future__ import annotations

import re
from functools import lru_cache

from langgraph_evidence.text import words as plain_words

# Not the lists and stems of the text room: the shipped planner was fitted to features of these.
_COMMON = frozenset(
    (
        "a an the of in on at to for from by with as and or but nor so than then that this these those there "
        "here it its he she his her him they their them who whom whose which what when where why how is are "
        "was were be been being am do does did done has have had having will would can could may might must "
        "shall should not no yes if both same also into over under about after before between during until "
        "while each other another such only own very more most some any all one s t i you we me my your our "
        "us name named called known"
    ).split()
)
_SUFFIXES = tuple("ational ations ation ional ings ing ions ion ors ers or er ed es s".split())
_STEM = 4


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cuts one ending off a lower-case word, so that director, directed and directs are the same."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM:
            return word[: -len(suffix)]
    return word[:-1] if word.endswith("e") and len(word) > _STEM else word


def words(text: str) -> list[str]:
    """The words of a text in lower case, a possessive ending dropped."""
    return plain_words(re.sub(r"['\u2019]s\b", "", text.lower()))


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order."""
    return [word for word in words(text) if word not in _COMMON]


def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(stem(word) for word in content_words(text))


RELATED = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "father mother son daughter parent child children grandfather grandmother",
        "spouse wife husband married marriage marry",
        "sibling brother sister",
        "performer sung singer song recorded band artist single album",
        "author wrote written writer novel book",
        "creator created composer composed music wrote",
        "director directed film movie",
        "founder founded established co-founded",
        "born birth birthplace birthday",
        "died death killed buried",
        "capital city located county state country province region",
        "played starred portrayed role character actor actress cast stars starring",
        "employer works university college school attended educated",
        "publisher published label released owner owned parent company manufacturer produced",
    )
)
"""Words that tell of the same relation, by stem."""
