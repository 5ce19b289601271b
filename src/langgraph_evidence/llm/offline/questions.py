"""What a question is made of: its named things, the two sides it compares, the clause that can be looked up first."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

_AUXILIARIES = "is are was were do does did has have had can could will would should"
_QUESTION_WORDS = "who whom whose which what when where why how in on at of for the a an name between by to from"
_OPENERS = frozenset((_AUXILIARIES + " " + _QUESTION_WORDS + " both if during").split())
_CONNECTORS = frozenset("of the de la le du von van der for di da del and".split())
_SAME = re.compile(
    r"\b(both|same|common|between|which of|either|two|\w+er|more|less|first|earlier|later)\b", re.IGNORECASE
)
_BREAK = re.compile(r",\s+|\s+(?=(?:that|who|whom|which|whose|where|when|what|how)\b)", re.IGNORECASE)
_QUOTED = re.compile(r"[\"\u201c]\s*+([^\"\u201c\u201d]{2,80}?)\s*+[\"\u201d]")
_TOKEN = re.compile(r"[\w.&/\u2019'\u2013\u2014!+*-]+")
_TITLE_TOKEN = re.compile(_TOKEN.pattern + r"(?:\s\([^()]{1,40}\))?")
LONGEST = 2_000
"""Characters of a question or sentence that are looked at: the work grows with the square of the names in them."""


def one_line(question: str) -> str:
    """A question without line breaks and its mark, cut where no question goes on."""
    return " ".join(question.split())[:LONGEST].rstrip("?. ")


@dataclass(frozen=True)
class Mention:
    """A named thing and where a text names it, by its characters."""

    text: str
    start: int
    end: int


def entities(text: str, *, bracketed: bool = True) -> list[Mention]:
    """The quoted and the capitalised spans of a text, in order; the word that opens a question is none.

    Args:
        text: A question or a sentence.
        bracketed: Whether a parenthesis belongs to the name before it, as in a title.
    """
    text = text[:LONGEST]
    quoted = [Mention(match[1].strip(), match.start(), match.end()) for match in _QUOTED.finditer(text)]
    token = _TITLE_TOKEN if bracketed else _TOKEN
    named = [span for span in _capitalised(text, token) if not any(q.start <= span.start < q.end for q in quoted)]
    return sorted(quoted + named, key=lambda span: span.start)


def _capitalised(text: str, pattern: re.Pattern[str]) -> list[Mention]:
    tokens = list(pattern.finditer(text))
    found: list[Mention] = []
    run: list[re.Match[str]] = []
    for index, token in enumerate(tokens):
        joined = not run or text[run[-1].end() : token.start()].strip(" ") in {"", ":"}
        if run and not joined:
            found += _closed(text, run)
            run = []
        if _is_name(token[0], opens=index == 0) or (run and token[0].lower() in _CONNECTORS):
            run.append(token)
        else:
            found += _closed(text, run)
            run = []
    return found + _closed(text, run)


def _is_name(word: str, *, opens: bool) -> bool:
    return (word[0].isupper() or word[0].isdigit()) and not (opens and word.lower() in _OPENERS)


def _closed(text: str, run: list[re.Match[str]]) -> list[Mention]:
    """The run as one span, cut at a lower-case `and`, its loose connectors dropped."""
    for index, token in enumerate(run):
        if token[0] == "and":
            return _closed(text, run[:index]) + _closed(text, run[index + 1 :])
    kept = list(run)
    while kept and kept[-1][0] in _CONNECTORS:
        kept.pop()
    while kept and kept[0][0] in _CONNECTORS:
        kept.pop(0)
    if not kept or not any(character.isalpha() for token in kept for character in token[0]):
        return _years(text, kept)
    end = kept[-1].end()
    span = re.sub(r"['\u2019][sS]?$|[.,!]$", "", text[kept[0].start() : end])
    return [Mention(span, kept[0].start(), kept[0].start() + len(span))] if len(span) > 1 else []


def _years(text: str, run: list[re.Match[str]]) -> list[Mention]:
    return [
        Mention(text[token.start() : token.end()], token.start(), token.end()) for token in run if len(token[0]) >= 4
    ]


@dataclass(frozen=True)
class ParsedQuestion:
    """A question taken apart.

    Args:
        text: The question without its mark.
        names: Its named things, each once.
        sides: The two things that it compares, or nothing.
        clauses: The parts that name something and can be looked up by themselves, the innermost first.
        yes_no: Whether yes or no answers it.
    """

    text: str
    names: tuple[str, ...]
    sides: tuple[str, str] | None
    clauses: tuple[str, ...]
    yes_no: bool


@lru_cache(maxsize=4096)
def analyse(question: str) -> ParsedQuestion:
    """Takes a question apart by its surface alone."""
    text = one_line(question)
    spans = entities(text)
    sides = _sides(text, spans)
    first = re.match(r"\w*", text)
    opens = first[0].lower() if first else ""
    return ParsedQuestion(
        text=text,
        names=tuple(dict.fromkeys(span.text for span in spans)),
        sides=sides,
        clauses=tuple(_clauses(text, spans)),
        yes_no=opens in _AUXILIARIES.split() and not re.search(r"\bor\b", text),
    )


def _sides(text: str, spans: list[Mention]) -> tuple[str, str] | None:
    either = re.search(r"^.*?,\s+(?=[A-Z\"\u201c'0-9])(.+),?\s+or\s+(.+)$", text)
    if either:
        return either[1].strip(' ",'), either[2].strip(' ",')
    for left, right in itertools.pairwise(spans):
        between = text[left.end : right.start]
        link = re.fullmatch(r"['\"\u201d]?,?\s+(and|or)\s+(?:[a-z]+\s+){0,5}[\"\u201c]?", between)
        if link and (link[1] == "or" or _SAME.search(text[: left.start] + text[right.end :])):
            return left.text, right.text
    return None


def _clauses(text: str, spans: list[Mention]) -> list[str]:
    parts = [part.strip(" ,") for part in _BREAK.split(text)]
    chains = [text[match.end() :] for match in re.finditer(r"\b(?:of|by|in|for|with)\s+(?=the\b|a\b|an\b)", text)]
    named = [span.text for span in spans]
    found = [part for part in (*reversed(chains), *parts) if any(name in part for name in named)]
    return [part for part in dict.fromkeys(found) if len(part.split()) > 1 and part != text]
