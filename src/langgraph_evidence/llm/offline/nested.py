"""A question inside a question: `the director of X` is asked for first, then the rest about the answer."""

from __future__ import annotations

import re

from langgraph_evidence.llm.offline.questions import entities, one_line
from langgraph_evidence.llm.offline.words import content_words

_PEOPLE = re.compile(
    r"\b(director|author|writer|composer|singer|performer|founder|creator|artist|king|queen|president|spouse|husband|wife"
    r"|father|mother|son|daughter|brother|sister|child|coach|leader|producer|inventor|architect|owner)s?\b"
)
# The relation in front of a name, e.g. `the paternal grandfather of the film NAME`.
_RELATION = r"\bthe ((?:[a-z-]+ ){1,3})of ((?:the )?(?:[a-z]+ ){0,2})$"
_BORN_YEAR = re.compile(r"\s+(?:in|during) the year (?:in which |that |when )?(.+?) was born$")
_BORN_WHEN = re.compile(r"\s+when (.+?) was born$")


def parts(question: str) -> tuple[str, str] | None:
    """The inner question and the outer one, in which `#1` stands for the inner one's answer; None where none nests."""
    text = one_line(question)
    return _birth(text) or _relation(text) or _possessive(text)


def _birth(text: str) -> tuple[str, str] | None:
    year = _BORN_YEAR.search(text)
    if year:
        return f"In what year was {year[1]} born?", f"{text[: year.start()]} in #1?"
    day = _BORN_WHEN.search(text)
    if day:
        return f"What is the birthdate of {day[1]}?", f"{text[: day.start()]} on #1?"
    return None


def _relation(text: str) -> tuple[str, str] | None:
    for span in entities(text):
        found = re.search(_RELATION, text[: span.start])
        if not found:
            continue
        end = span.end + (1 if text[span.end : span.end + 1] in {'"', "\u201d"} else 0)
        outer = f"{text[: found.start()]}#1{text[end:]}"
        if content_words(outer.replace("#1", "")):
            asks = "Who" if _PEOPLE.search(found[1]) else "What"
            return f"{asks} is {text[found.start() : end]}?", f"{outer}?"
    return None


def _possessive(text: str) -> tuple[str, str] | None:
    for span in entities(text):
        found = re.match(r"['\u2019]s ([a-z]+(?: [a-z]+)?)\b", text[span.end :])
        if not found:
            continue
        relation = found[1].split()[0]
        end = span.end + found.start(1) + len(relation)
        outer = f"{text[: span.start]}#1{text[end:]}"
        if content_words(outer.replace("#1", "")) and (
            _PEOPLE.search(relation) or relation in {"birthplace", "capital"}
        ):
            asks = "Who" if _PEOPLE.search(relation) else "What"
            return f"{asks} is the {relation} of {span.text}?", f"{outer}?"
    return None
