"""Reads replies in a paper's text protocol: tolerant of how models dress their text, never guessing what they meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_INVISIBLE = re.compile(r"[\ufeff\u200b-\u200d\u2060]")
_THOUGHT = re.compile(r"<(/?)think(?:ing)?\s*>", re.IGNORECASE)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}


def clean(reply: str) -> str:
    """Takes off what models wrap around a reply: thoughts, code fences, invisible characters, surrounding quotes.

    A thought that never ends leaves nothing of what follows it: where it ends and a reply begins would be a guess.
    """
    text = _INVISIBLE.sub("", reply)
    text = _without_thoughts(text)
    text = _FENCE_LINE.sub("", text).strip()
    while _is_quoted(text):
        text = text[1:-1].strip()
    return text


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes surrounds all of the text; in `"a" and "b"` none does."""
    return len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and not {text[0], text[-1]}.intersection(text[1:-1])


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    thinking, start = False, 0
    for tag in _THOUGHT.finditer(text):
        if not thinking and not tag.group(1):
            kept.append(text[start : tag.start()])
            thinking = True
        elif tag.group(1):
            if not thinking:
                # Some servers put the opening tag into the prompt, so that all before a lone closing tag is thought.
                kept.clear()
            thinking, start = False, tag.end()
    return "".join(kept if thinking else [*kept, text[start:]])


class Section(NamedTuple):
    """A tag, as it was declared, and the text from it to the next tag."""

    tag: str
    text: str


# What models put before a tag: bullets, quote marks, bold, heading signs, a number. Possessive: no line makes it slow.
_LEAD = r"[\s>#*•‣\-–_`]*+(?:\(?\d{1,3}[.):])?+[\s*_`]*+"


def tagged_lines(text: str, tags: Sequence[str]) -> list[Section]:
    """Splits a reply into the sections that its tagged lines begin, in order.

    A tag counts only at the start of a line, whatever its case, spacing, numbering, bullet or bold. What stands before
    the first tag belongs to no section and is dropped.

    Args:
        text: A cleaned reply.
        tags: The protocol's tags as a prompt shows them, e.g. `("[Search]", "[Answer]")` or `("Question:",)`.
    """
    pattern = _tag_pattern(tuple(tags))
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        found = pattern.match(line)
        if found is not None:
            number = next(index for index, group in enumerate(found.groups()) if group is not None)
            sections.append((tags[number], [line[found.end() :]]))
        elif sections:
            sections[-1][1].append(line)
    return [Section(tag, _undress("\n".join(lines))) for tag, lines in sections]


@lru_cache(maxsize=64)
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    options = "|".join(f"({_spaced(tag)})" for tag in tags)
    return re.compile(rf"{_LEAD}(?:{options})[\s*_`]*:?[\s*_`]*", re.IGNORECASE)


def _spaced(tag: str) -> str:
    parts = re.findall(r"\w+|[^\w\s]", tag)
    end = r"(?!\w)" if parts and parts[-1][-1].isalnum() else ""
    return r"\s*".join(re.escape(part) for part in parts) + end


def _undress(body: str) -> str:
    return body.strip().strip("*`").strip()
