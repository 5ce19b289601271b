"""One question of a data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.evaluation.answers import Style, SupportingFact
    from langgraph_evidence.types import Passage


@dataclass(frozen=True)
class GoldStep:
    """One hop of a gold decomposition.

    Args:
        question: The sub-question; `#1` stands for the answer of the first step.
        answer: Its answer.
        passage: Id of the passage that answers it, where it is known.
    """

    question: str
    answer: str
    passage: str | None = None


@dataclass(frozen=True)
class Question:
    """A question, its gold answers, and where the evidence is.

    Args:
        id: Unique within its data set.
        question: The text.
        answers: The gold answer and its aliases.
        dataset: `hotpotqa`, `2wikimultihopqa`, `musique`, `closed-world`, ...
        kind: The data set's own type: bridge, comparison, 2hop, ...
        hops: How many passages it takes.
        passages: The question's own paragraphs; empty where it is asked over a shared corpus.
        gold_passages: Ids of the gold passages; one that is not among the own paragraphs is `missing:<title>`.
        gold_titles: Their titles, where they are known.
        supporting_facts: Gold sentences as (title, index).
        sentences: The sentences of a passage by its id, where the data set splits them.
        fold: The fold of its leak group.
        steps: The gold decomposition.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    dataset: str
    kind: str = ""
    hops: int | None = None
    passages: tuple[Passage, ...] = ()
    gold_passages: tuple[str, ...] = ()
    gold_titles: tuple[str, ...] = ()
    supporting_facts: tuple[SupportingFact, ...] = ()
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fold: int | None = None
    steps: tuple[GoldStep, ...] = ()

    @property
    def style(self) -> Style:
        """Whose rules its answer is scored by."""
        if self.dataset == "musique":
            return "musique"
        return "2wiki" if self.dataset.startswith("2wiki") else "hotpotqa"
