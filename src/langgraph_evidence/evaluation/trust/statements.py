"""A question and its short answer as one sentence, by rules that are sure of its grammar, or not at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.trust.details import DATE
from langgraph_evidence.evaluation.trust.verbs import BY_BASE, BY_PAST, VERBS

if TYPE_CHECKING:
    from collections.abc import Callable

_PAST = "|".join(sorted(BY_PAST, key=len, reverse=True))
_BASE = "|".join(sorted(BY_BASE, key=len, reverse=True))
_DONE = "|".join(
    sorted({verb.participle for verb in VERBS} | {"born", "located", "set", "based"}, key=len, reverse=True)
)
_BE = "is|are|was|were"
_HAVE = {"does": "has", "did": "had", "do": "have"}
_CLAUSE = re.compile(
    r"\b(?:who|what|which|where|when|how|if|did|does|do|is|are|was|were|has|have|had|called|named)\b", re.IGNORECASE
)
# Such an answer is no thing that the question's verb could have for its subject or object.
_NO_THING = re.compile(r"(?:\w+ed|led|by|because|to|so|if|when|while|after|before)\b", re.IGNORECASE)
_LONGEST = 30


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _when(answer: str) -> str:
    """A time with the preposition that it takes; a day takes "on", a month or a year "in"."""
    if re.match(r"(?:in|on|at|by|since|after|before|during|from|until|the|early|late) ", answer, re.IGNORECASE):
        return answer
    day = DATE.search(answer) and re.search(r"\b\d\d?(?:st|nd|rd|th)?\b", answer)
    return f"{'on' if day else 'in'} {answer}"


def _where(answer: str) -> str:
    return (
        answer
        if re.match(r"(?:in|on|at|near|from|to|the|along|within|under) ", answer, re.IGNORECASE)
        else f"in {answer}"
    )


# Each rule: what a question is like, and the sentence that its parts and the answer make.
_RULES: tuple[tuple[str, Callable[[re.Match[str], str], str]], ...] = (
    (rf"who (?P<verb>{_PAST}) (?P<rest>[^?]+)", lambda m, a: f"{a} {m['verb']} {m['rest']}"),
    (
        rf"who (?P<be>{_BE}) the (?P<role>[a-z][a-z -]*) (?P<of>of|for) (?P<rest>[^?,]+)",
        lambda m, a: f"the {m['role']} {m['of']} {m['rest']} {m['be']} {a}",
    ),
    (
        r"what (?P<be>is|was) the (?P<thing>[a-z][a-z -]*) of (?P<rest>[^?,]+)",
        lambda m, a: f"the {m['thing']} of {m['rest']} {m['be']} {a}",
    ),
    (
        rf"where (?P<be>{_BE}) (?P<rest>[^?,]+?) (?P<done>born|located|held|built|set|based|played|founded)",
        lambda m, a: f"{m['rest']} {m['be']} {m['done']} {_where(a)}",
    ),
    (
        rf"(?:when|(?:in )?(?:what|which) year) (?P<be>was|were) (?P<rest>[^?,]+?) (?P<done>{_DONE})",
        lambda m, a: f"{m['rest']} {m['be']} {m['done']} {_when(a)}",
    ),
    (
        rf"(?:when|(?:in )?(?:what|which) year) did (?P<rest>[^?,]+?) (?P<verb>{_BASE})(?P<more>(?: [^?,]+)?)",
        lambda m, a: f"{m['rest']} {BY_BASE[m['verb'].lower()].past}{m['more']} {_when(a)}",
    ),
    (
        rf"where did (?P<rest>[^?,]+?) (?P<verb>{_BASE})",
        lambda m, a: f"{m['rest']} {BY_BASE[m['verb'].lower()].past} {_where(a)}",
    ),
    (
        rf"(?:what|who|which [a-z]+) did (?P<rest>[A-Z][^?,]*?) (?P<verb>{_BASE})",
        lambda m, a: f"{m['rest']} {BY_BASE[m['verb'].lower()].past} {a}",
    ),
    (
        r"how many (?P<thing>[a-z][a-z -]*?) (?P<do>does|did|do) (?P<rest>[^?,]+?) have",
        lambda m, a: f"{m['rest']} {_HAVE[m['do'].lower()]} {a} {m['thing']}",
    ),
    (
        rf"which (?P<thing>[a-z]+) (?P<verb>{_PAST}) (?P<rest>[^?,]+)",
        lambda m, a: f"{a} {m['verb']} {m['rest']}",
    ),
)
_COMPILED = tuple((re.compile(rf"{pattern}\??\.?", re.IGNORECASE), make) for pattern, make in _RULES)
_NO_PHRASE = frozenset({"yes", "no"})


def statement_of(question: str, answer: str) -> str | None:
    """The sentence that a question and its answer make; None where no rule is sure.

    Args:
        question: Asked by "who", "where", "when", "what" or "how many", in one clause.
        answer: A phrase, not yes or no.
    """
    asked, said = question.strip(), answer.strip().rstrip(".")
    if not said or said.lower() in _NO_PHRASE or _NO_THING.match(said) or len(asked.split()) > _LONGEST:
        return None
    for pattern, make in _COMPILED:
        match = pattern.fullmatch(asked)
        if match is not None and not _repeats(match, said):
            return _capital(make(match, said)) + "."
    return None


def _repeats(match: re.Match[str], said: str) -> bool:
    """Whether the answer repeats the question's own noun ("3 medals medals"), or its parts hold a further clause."""
    thing = match.groupdict().get("thing") or ""
    return _CLAUSE.search(match["rest"]) is not None or (bool(thing) and thing.split()[-1].lower() in said.lower())
