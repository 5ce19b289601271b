"""The reader: the answer to a question in given passages (a span, yes, no), or that they do not answer it.

`windows` packs question and passages, `head` and `spans` find places, `answers` makes readings of them with the rules
of `answer_types` and `comparison`; `passage_order` says what to read together when not all fits.
"""

from langgraph_evidence.models.reader.answers import Reading
from langgraph_evidence.models.reader.head import KINDS, ReaderHead
from langgraph_evidence.models.reader.model import (
    HEAD,
    NONE_BIAS,
    THRESHOLD,
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
    "THRESHOLD",
    "AdapterSpans",
    "Reader",
    "ReaderHead",
    "Reading",
    "SpanModel",
    "Window",
    "new_head",
    "packed",
]  # fmt: skip
