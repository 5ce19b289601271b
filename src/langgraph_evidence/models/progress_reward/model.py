"""How good a partial answer is as a step to the whole one (Think&Cite, generation progress reward R_g).

`ProgressReward` is a Bradley-Terry head over the shared encoder; `DpoProgressReward` is the paper's log-ratio of a
preference-aligned language model and its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from langgraph_evidence.models.base import (
    Adapter,
    AdapterSpec,
    Encoder,
    PairScorer,
    adapter_file,
    load_adapter,
    open_pair_model,
    sigmoid,
)
from langgraph_evidence.models.progress_reward.reward import GenerationReward
from langgraph_evidence.models.shared import default_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

HEAD = "progress_reward"
LABELS = ("reward",)
_DROPOUT, _WIDTH = 0.2, 64
# Of a long text so far the end says most about what may come next.
_KEPT_CHARACTERS = 400

AnswerStep = tuple[str, tuple[str, ...], str]
"""A question, the sentences so far, and the next sentence."""


class StepScorer(Protocol):
    """Scores next sentences."""

    def scores(self, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
        """Bradley-Terry logits, (steps,): the difference of two is the log-odds of preferring the first."""
        ...


def context_of(question: str, sentences: Sequence[str]) -> str:
    """The first part of a pair: the question and the end of the text so far."""
    return f"{question} | {' '.join(sentences)[-_KEPT_CHARACTERS:]}".strip(" |")


class ProgressHead(nn.Module):
    """From the vectors of question, text so far and next sentence to a Bradley-Terry logit.

    Args:
        width: The vectors' width.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(_DROPOUT),
            nn.Linear(2 * width + 5, _WIDTH),
            nn.GELU(),
            nn.Dropout(_DROPOUT),
            nn.Linear(_WIDTH, 1),
        )

    def forward(self, features: Tensor) -> Tensor:
        """Logits, (n,), of features (n, 2 * width + 5) (see `step_features`)."""
        return torch.as_tensor(self.layers(features).squeeze(-1))


def step_features(encoder: Encoder, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
    """Features of next sentences, (steps, 2 * dimension + 5).

    Products of the sentence's vector with the question's and with the text's so far, scaled to the size of the others;
    their sums (the cosines), the nearest sentence so far, whether there is one, and the sentence's length.
    """
    question = encoder.encode([step[0] for step in steps])
    following = encoder.encode([step[2] for step in steps])
    said = np.stack([_said(encoder, step[1], vector) for step, vector in zip(steps, following, strict=True)])
    asked = question * following
    told, nearest = said[:, :-1] * following, said[:, -1:]
    started = np.array([[float(bool(step[1]))] for step in steps])
    length = np.array([[np.log1p(len(step[2].split()))] for step in steps])
    scale = encoder.dimension**0.5
    columns = [
        asked * scale,
        told * scale,
        asked.sum(1, keepdims=True),
        told.sum(1, keepdims=True),
        nearest,
        started,
        length,
    ]
    return np.concatenate(columns, axis=1).astype(np.float32)


def _said(encoder: Encoder, sentences: Sequence[str], following: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean vector of the sentences so far, and the highest cosine of one of them with the next; zeros without any."""
    if not sentences:
        return np.zeros(encoder.dimension + 1, dtype=np.float32)
    vectors = encoder.encode(list(sentences))
    return np.append(vectors.mean(0), (vectors @ following).max())


class VectorStepScorer:
    """Scores next sentences by a head over the shared encoder's vectors, which are cached from step to step.

    Args:
        encoder: The shared encoder.
        adapter: With a `ProgressHead`.
    """

    def __init__(self, encoder: Encoder, adapter: Adapter) -> None:
        self._encoder, self._adapter = encoder, adapter.freeze(encoder)

    def scores(self, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
        """Bradley-Terry logits, (steps,)."""
        if not steps:
            return np.zeros(0, dtype=np.float32)
        features = torch.from_numpy(step_features(self._encoder, steps)).to(self._encoder.device)
        with torch.inference_mode():
            logits: NDArray[np.float32] = self._adapter.head(features).cpu().numpy()
        return logits


class PairStepScorer:
    """Scores next sentences by a full-size reward model over (question and text so far, next sentence).

    Args:
        model: With one output a pair.
    """

    def __init__(self, model: PairScorer) -> None:
        self._model = model

    def scores(self, steps: Sequence[AnswerStep]) -> NDArray[np.float32]:
        """The model's logits, (steps,)."""
        return self._model.logits([(context_of(step[0], step[1]), step[2]) for step in steps])[:, 0]


def open_step_scorer(source: str | Path | None = None, *, encoder: Encoder | None = None) -> StepScorer:
    """Opens the shipped head, an adapter file, or a full-size reward model: a folder, a hub id or a server's URL.

    Raises:
        ResourceError: The source is missing, damaged, or for another task.
        InvalidInput: The URL is of no known protocol.
        MissingExtra: It needs a package that is not installed.
    """
    path = adapter_file(HEAD, source)
    if path is None:
        return PairStepScorer(open_pair_model(HEAD, str(source), labels=LABELS))
    base = encoder or default_encoder()

    def build(_: AdapterSpec) -> ProgressHead:
        return ProgressHead(base.dimension)

    return VectorStepScorer(base, load_adapter(base, path, HEAD, labels=LABELS, build_head=build))


class ProgressReward(GenerationReward):
    """Mean of the sentences' preference scores, each given the question and the sentences before it.

    A score is the logistic function of the Bradley-Terry logit, so rewards lie in [0, 1] beside the attribution F1;
    the weights are the paper's, 1 / (number of sentences).

    Args:
        scorer: Scores next sentences.
    """

    def __init__(self, scorer: StepScorer) -> None:
        self._scorer = scorer

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> ProgressReward:
        """Opens the shipped head, an adapter file, or a full-size reward model (see `open_step_scorer`)."""
        return cls(open_step_scorer(source, encoder=encoder))

    def _rewards(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        steps: list[AnswerStep] = [
            (question, tuple(sentences[:index]), sentence)
            for sentences in answers
            for index, sentence in enumerate(sentences)
        ]
        values = iter(sigmoid(self._scorer.scores(steps)))
        return [float(np.mean([next(values) for _ in sentences])) for sentences in answers]
