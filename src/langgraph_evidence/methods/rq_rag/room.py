"""Keeps a prompt within the model's context: passages give way, the oldest first; questions and queries never."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.methods.rq_rag.state import Taken

# Letters of Latin script that a token holds at least, on the average of a text; of another script, one a token.
_LETTERS = 3
# What the chat format and the prompt's own words take, and what a passage's line takes beside its text.
_FRAME, _LINE = 300, 12


def tokens_in(text: str) -> int:
    """About how many tokens a text has, rather more than fewer, for a model whose tokenizer is not at hand."""
    plain = sum(character.isascii() for character in text)
    return -(-plain // _LETTERS) + len(text) - plain


def limits_within(room: int, fixed: Sequence[str], steps: Sequence[Taken], *, most: int) -> list[int] | None:
    """How many letters of a passage's text each step may show, so that a prompt has at most so many tokens.

    Args:
        room: Tokens of the prompt.
        fixed: Texts that are shown whole.
        steps: The steps, oldest first.
        most: Letters of a passage that are shown where there is room.

    Returns:
        One number a step, or None where not even the titles have room.
    """
    left = room - _FRAME - sum(map(tokens_in, fixed)) - sum(tokens_in(step["query"]) for step in steps)
    limits = [most] * len(steps)
    for number, step in enumerate(steps):
        while limits[number] > 1 and _all(steps, limits) > left:
            limits[number] = max(min(limits[number], _longest(step)) * 3 // 4, 1)
    return limits if _all(steps, limits) <= left else None


def _longest(step: Taken) -> int:
    return max((len(passage["text"]) for passage in step["passages"]), default=1)


def _all(steps: Sequence[Taken], limits: Sequence[int]) -> int:
    return sum(
        _LINE + tokens_in(passage["title"][:200]) + tokens_in(passage["text"][:limit])
        for step, limit in zip(steps, limits, strict=True)
        for passage in step["passages"]
    )
