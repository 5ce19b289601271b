"""The gate that needs no model: the numbers, dates and names of a statement have to stand in what is quoted for it.

Other forms of the same number or date count: `1,200` and `1.2 thousand`, `3rd` and `third`, `5 May 2001` and
`2001-05-05`. The expressions are English; in another language the gate sees the digits and
the capital letters alone.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from langgraph_evidence.citations.names import names, words_of
from langgraph_evidence.citations.quantities import quantities, spelt_out

# They choose among a character's shapes, and nobody sees them.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0]")


@lru_cache(maxsize=4096)
def facts_of(text: str) -> frozenset[str]:
    """The numbers, the parts of dates and the words of names of a text, each in one form.

    A month is `month:5`, a number `=1200`, a word of a name itself, without case, accents or a possessive, and a
    numeral with the name before it (`henry viii`). The first word of a sentence counts as a name only where the next
    one, too, begins with a capital.
    """
    seen = legible(text)
    return frozenset(
        [*(number.fact for number in quantities(seen)), *(part for name in names(seen) for part in name.parts)]
    )


@lru_cache(maxsize=16384)
def held_by(text: str) -> frozenset[str]:
    """What a quote holds for `facts_of` to be found in: its numbers, parts of dates, and all its words."""
    seen = legible(text)
    return frozenset([*(number.fact for number in quantities(seen)), *words_of(seen)])


def legible(text: str) -> str:
    """A text as a reader sees it: no characters without a shape, no accents, dates spelt out."""
    if not text.isascii():
        letters = unicodedata.normalize("NFD", _UNSEEN.sub("", text))
        text = "".join(c for c in letters if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
        text = unicodedata.normalize("NFC", text)
    return spelt_out(text)
