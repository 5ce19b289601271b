"""The plain data that travels through every graph: JSON values only, so that any checkpointer can store it."""

from __future__ import annotations

import hashlib
from typing import Literal

from typing_extensions import NotRequired, TypedDict


class Passage(TypedDict):
    """A retrieved text: one paragraph or, in a sentence-level corpus, one sentence."""

    id: str
    title: str
    text: str
    score: NotRequired[float]
    query: NotRequired[str]
    iteration: NotRequired[int]


class Citation(TypedDict):
    """One span of the answer, the passage that supports it, and the span quoted from that passage.

    `start` and `end` index the answer, `quote_start` and `quote_end` the passage's text; `support` (0 to 1) is that of
    the sentence of the answer by all its quotes together.
    """

    start: int
    end: int
    passage_id: str
    title: str
    quote: str
    quote_start: int
    quote_end: int
    support: float


Verdict = Literal["supported", "partly", "unsupported"]
"""What became of a sentence of an answer that was checked against the evidence."""


class SentenceSupport(TypedDict):
    """A sentence of the answer, by its place, with its support (0 to 1)."""

    start: int
    end: int
    support: float
    verdict: Verdict


class Conflict(TypedDict):
    """A passage that contradicts a sentence of the answer which other passages support; offsets as in `Citation`."""

    start: int
    end: int
    passage_id: str
    title: str
    quote: str
    quote_start: int
    quote_end: int
    contradiction: float


class Usage(TypedDict):
    """What a step or a run has spent on language-model calls."""

    calls: int
    cached_calls: int
    input_tokens: int
    output_tokens: int
    seconds: float


Stopped = Literal[
    "answered", "forced", "budget", "step_limit", "no_evidence", "no_answer", "unsupported", "own_knowledge"
]
"""Why a run ended: its own decision, a forced answer, a spent budget, the host's step limit, nothing retrieved, no
usable reply, an answer that the evidence does not support, an answer that was given without any evidence where the
method's own rule allows it."""


def no_usage() -> Usage:
    """The usage of nothing."""
    return Usage(calls=0, cached_calls=0, input_tokens=0, output_tokens=0, seconds=0.0)


def content_id(title: str, text: str) -> str:
    """The id of a passage that has none: 16 hexadecimal digits of the hash of its title and text."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def passage_line(passage: Passage) -> str:
    """The passage as one line, `Title: text`, unless the text already begins with its title (FuRePA, appendix B)."""
    title, text = passage["title"].strip(), " ".join(passage["text"].split())
    return text if not title or text.lower().startswith(title.lower()) else f"{title}: {text}"
