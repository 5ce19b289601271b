"""The reader: the answer to a question in given passages (a span, yes, no), or that they do not answer it.

`windows` packs question and passages, `head` and `spans` find places, `answers` makes readings of them with the rules
of `answer_types` and `comparison`; `passage_order` says what to read together when not all fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base import default_encoder, once

if TYPE_CHECKING:
    from langgraph_evidence.models.reader.answers import Reading
    from langgraph_evidence.models.reader.head import KINDS, ReaderHead
    from langgraph_evidence.models.reader.model import (
        HEAD,
        NONE_BIAS,
        AdapterSpans,
        Reader,
        SpanModel,
        new_head,
        packed,
    )
    from langgraph_evidence.models.reader.windows import MAX_TOKENS, Window

__all__ = [
    "HEAD",
    "KINDS",
    "MAX_TOKENS",
    "NONE_BIAS",
    "AdapterSpans",
    "Reader",
    "ReaderHead",
    "Reading",
    "SpanModel",
    "Window",
    "default_reader",
    "new_head",
    "packed",
]

__getattr__ = lazily(
    __name__,
    {
        "answers": "Reading",
        "head": "KINDS ReaderHead",
        "model": "AdapterSpans HEAD NONE_BIAS Reader SpanModel new_head packed",
        "windows": "MAX_TOKENS Window",
    },
)


@once
def default_reader() -> Reader:
    """The process's shared reader: the shipped adapter over the shared encoder.

    Raises:
        ResourceError: The shipped weights or the base are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.reader.model import Reader

    return Reader.load(encoder=default_encoder())
