"""How good a partial answer is as a step to the whole one (Think&Cite, generation progress reward R_g).

`ProgressReward` is a Bradley-Terry head over the shared encoder; `DpoProgressReward` is the paper's log-ratio of a
preference-aligned language model and its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.pair_source import PairScorer, open_pair_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from langgraph_evidence.models.encoder import Encoder

HEAD = "progress_reward"
LABELS = ("reward",)
# Of a long text so far the end says most about what may come next.
_KEPT_CHARACTERS = 400


def context_of(question: str, sentences: Sequence[str]) -> str:
    """The first part of a pair: the question and the end of the text so far."""
    return f"{question} | {' '.join(sentences)[-_KEPT_CHARACTERS:]}".strip(" |")


class GenerationReward(Protocol):
    """Rewards a partial answer, higher is better."""

    def reward(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        """One reward for each partial answer, given as its sentences."""
        ...


class ProgressReward:
    """Mean of the sentences' preference scores, each given the question and the sentences before it.

    A score is the logistic function of the Bradley-Terry logit, so rewards lie in [0, 1] beside the attribution F1;
    the weights are the paper's, 1 / (number of sentences).

    Args:
        model: Scores (question and text so far, next sentence) with one output.
    """

    def __init__(self, model: PairScorer) -> None:
        self._model = model

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> ProgressReward:
        """Opens the shipped head, an adapter file, or a full-size reward model (see `open_pair_model`)."""
        return cls(open_pair_model(HEAD, source, encoder=encoder, labels=LABELS))

    def reward(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        """R_g of each partial answer, in [0, 1].

        Raises:
            InvalidInput: An answer has no sentence.
        """
        if not all(answers):
            raise InvalidInput("A partial answer without a sentence has no reward; give at least one sentence.")
        pairs = [
            (context_of(question, sentences[:index]), sentence)
            for sentences in answers
            for index, sentence in enumerate(sentences)
        ]
        logits = self._model.logits(pairs)[:, 0].tolist()
        values = iter(1 / (1 + np.exp(-np.asarray(logits, dtype=np.float64))))
        return [float(np.mean([next(values) for _ in sentences])) for sentences in answers]
