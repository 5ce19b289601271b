"""Verbs in the forms that statements are made, turned and denied by; a small closed list, so that each is right."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb of somebody doing something to something else.

    Args:
        base: As after "did".
        past: As in "he wrote".
        participle: As in "was written".
    """

    base: str
    past: str
    participle: str


_REGULAR = """direct produce create found compose star design develop establish invent discover launch release publish
perform record defeat kill marry play appear serve die receive start open close join move live graduate use name
introduce complete attend represent finish organize manage own host premiere occur happen end work score form purchase
contain feature portray propose destroy sign train coach adopt capture cover order train lead call""".split()
_IRREGULAR = {
    "write": ("wrote", "written"), "win": ("won", "won"), "build": ("built", "built"), "sing": ("sang", "sung"),
    "begin": ("began", "begun"), "buy": ("bought", "bought"), "sell": ("sold", "sold"), "lead": ("led", "led"),
    "leave": ("left", "left"), "lose": ("lost", "lost"), "become": ("became", "become"), "take": ("took", "taken"),
    "make": ("made", "made"), "teach": ("taught", "taught"), "draw": ("drew", "drawn"), "hold": ("held", "held"),
    "give": ("gave", "given"), "meet": ("met", "met"), "beat": ("beat", "beaten"), "beget": ("begot", "begotten"),
}  # fmt: skip
_DOUBLED = {"star", "ship"}
_ONE_WAY = frozenset(
    """direct produce create found compose design develop establish invent discover launch publish record defeat kill
    write win build sing buy sell lead teach introduce portray destroy coach adopt capture beat own host
    purchase""".split()
)


def _past(base: str) -> str:
    if base in _DOUBLED:
        return f"{base}{base[-1]}ed"
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}ed"


VERBS = tuple(
    [Verb(base, _past(base), _past(base)) for base in dict.fromkeys(_REGULAR) if base not in _IRREGULAR]
    + [Verb(base, *forms) for base, forms in _IRREGULAR.items()]
)
"""All of them, each once."""
BY_BASE = {verb.base: verb for verb in VERBS}
"""By the form after "did"."""
BY_PAST = {verb.past: verb for verb in VERBS}
"""By the past tense."""
TRANSITIVE = {verb.past: verb for verb in VERBS if verb.base in _ONE_WAY}
"""By the past tense: those whose object cannot as well have done it to the subject, and that have a plain passive."""
