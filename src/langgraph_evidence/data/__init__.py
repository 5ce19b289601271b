"""The shipped sample: real Wikipedia passages and 2WikiMultihopQA questions about them (sources: NOTICE)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from typing_extensions import TypedDict

PASSAGES_FILE = "sample_passages.jsonl.gz"
QUESTIONS_FILE = "sample_questions.jsonl.gz"


class SampleQuestion(TypedDict):
    """A question of the sample, its answer, and the passages that together prove it.

    `type` is the data set's own word (comparison, compositional, inference, bridge_comparison); `fold` tells which
    questions the shipped weights may have been trained on: those below 7.
    """

    id: str
    question: str
    answer: str
    aliases: list[str]
    type: str
    gold_ids: list[str]
    fold: int


def sample_passages_path() -> Path:
    """Where the sample corpus lies: gzipped JSON Lines of id, title and text."""
    return Path(__file__).with_name(PASSAGES_FILE)


def sample_questions() -> list[SampleQuestion]:
    """The questions of the sample."""
    with gzip.open(Path(__file__).with_name(QUESTIONS_FILE), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
