"""The entailment head over the shared encoder: how a pair is read and turned into label probabilities."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langgraph_evidence.models.entailment.features import (
    FEATURES,
    feature_matrix,
    is_question,
    pack_premise,
    sentence_scores,
    split_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Adapter, AdapterSpec, Batch, Encoder

LABELS3 = ("entailment", "neutral", "contradiction")
OUTPUTS = (*LABELS3, "answers")
"""The head's outputs; `answers` is the logit that a premise answers a hypothesis that is a question."""

PREMISE_WORDS = (60, 220)
"""A premise is packed to each of these and read once for each different text: a few sentences are easier to judge by,
and the rest may hold what they lack."""

MAX_TOKENS = 384

COSINES = ("best sentence cosine", "best three sentences cosine", "mean sentence cosine")
_SENTENCES_ENCODED = 40
_SENTENCES_AVERAGED = 3
_CLIP = 4.0


class EntailmentHead(nn.Module):
    """From hidden states and the pair's features to `OUTPUTS`.

    Called on hidden states it pools them ([CLS], mean of the hypothesis, mean of the premise); `decide` puts the
    features beside that. The two are apart because the features come from the whole texts and not from tokens.

    Args:
        width: The encoder's dimension.
        inner: Width of the hidden layer.
        dropout: In training.
    """

    center: Tensor
    spread: Tensor

    def __init__(self, width: int, *, inner: int = 256, dropout: float = 0.1) -> None:
        super().__init__()
        features = len(FEATURES) + len(COSINES)
        self.register_buffer("center", torch.zeros(features))
        self.register_buffer("spread", torch.ones(features))
        self.norm = nn.LayerNorm(3 * width)
        self.inner = nn.Linear(3 * width + features, inner)
        self.output = nn.Linear(inner, len(OUTPUTS))
        self.direct = nn.Linear(features, len(OUTPUTS), bias=False)
        self.dropout = nn.Dropout(dropout)
        nn.init.zeros_(self.output.bias)
        nn.init.zeros_(self.direct.weight)

    def forward(self, hidden: Tensor, batch: Batch) -> Tensor:
        """The pooled reading, (batch, 3 * width)."""
        hypothesis = (batch.types * batch.mask).unsqueeze(-1).to(hidden.dtype)
        premise = ((1 - batch.types) * batch.mask).unsqueeze(-1).to(hidden.dtype)
        means = [(hidden * part).sum(1) / part.sum(1).clamp(min=1) for part in (hypothesis, premise)]
        return torch.cat([hidden[:, 0], *means], dim=-1)

    def scale(self, features: Tensor) -> Tensor:
        """Features by the training data's mean and spread, outliers clipped."""
        return ((features - self.center) / self.spread).clamp(-_CLIP, _CLIP)

    def decide(self, pooled: Tensor, features: Tensor) -> Tensor:
        """Logits, (batch, outputs), from the pooled reading and scaled features."""
        joined = self.dropout(torch.cat([self.norm(pooled), features], dim=-1))
        return torch.as_tensor(self.output(self.dropout(F.gelu(self.inner(joined)))) + self.direct(features))


def build_head(width: int, spec: AdapterSpec) -> EntailmentHead:
    """The head of an adapter file, with the inner width that its description gives."""
    return EntailmentHead(width, inner=int(spec.details.get("inner", 256)))


def label_logits(logits: Tensor, asks: Tensor) -> Tensor:
    """Logits of entailment, neutral and contradiction, (batch, 3); neutral means "not answered" for a question.

    Args:
        logits: (batch, outputs).
        asks: Whether the hypothesis is a question, (batch,).
    """
    states, answered = logits[:, : len(LABELS3)], logits[:, len(LABELS3)]
    never = torch.full_like(answered, float("-inf"))
    questions = torch.stack([answered, torch.zeros_like(answered), never], dim=-1)
    return torch.where(asks.unsqueeze(-1), questions, states)


def cosine_features(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Similarity of each hypothesis to its premise's sentences by the encoder without adapter, (pairs, `COSINES`)."""
    chosen = [_best_sentences(premise, hypothesis) for premise, hypothesis in pairs]
    texts = list(dict.fromkeys([*(hypothesis for _, hypothesis in pairs), *(text for row in chosen for text in row)]))
    vectors = dict(zip(texts, encoder.encode(texts), strict=True))
    rows = np.zeros((len(pairs), len(COSINES)), dtype=np.float32)
    for row, ((_, hypothesis), sentences) in zip(rows, zip(pairs, chosen, strict=True), strict=True):
        if sentences:
            row[:] = _cosines(np.stack([vectors[text] for text in sentences]), vectors[hypothesis])
    return rows


def _best_sentences(premise: str, hypothesis: str) -> list[str]:
    sentences = split_sentences(premise)
    if len(sentences) <= _SENTENCES_ENCODED:
        return sentences
    scores = sentence_scores(sentences, hypothesis)
    return [sentences[place] for place in heapq.nlargest(_SENTENCES_ENCODED, range(len(scores)), scores.__getitem__)]


def _cosines(sentences: NDArray[np.float32], hypothesis: NDArray[np.float32]) -> tuple[float, float, float]:
    similar = sentences @ hypothesis
    best = sentences[np.argsort(-similar)[:_SENTENCES_AVERAGED]].sum(0)
    together = float(best @ hypothesis) / (float(np.linalg.norm(best)) + 1e-9)
    return float(similar.max()), together, float(similar.mean())


def all_features(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """What the head gets beside the encoder's reading, unscaled: (pairs, features)."""
    return np.concatenate([feature_matrix(pairs), cosine_features(encoder, pairs)], axis=1)


class HeadScorer:
    """The shipped kind of entailment model: an adapter of the shared encoder.

    Args:
        encoder: The base.
        adapter: With an `EntailmentHead`.
    """

    labels: tuple[str, ...] = LABELS3

    def __init__(self, encoder: Encoder, adapter: Adapter) -> None:
        self._encoder, self._adapter = encoder, adapter.freeze(encoder)
        self._head = adapter.head

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """See `label_logits`, (pairs, 3)."""
        if not isinstance(self._head, EntailmentHead):
            raise TypeError("The adapter of an entailment model must have an EntailmentHead.")
        features = self._head.scale(torch.from_numpy(all_features(self._encoder, pairs)).to(self._encoder.device))
        asks = torch.tensor([is_question(text) for _, text in pairs], device=self._encoder.device)
        with torch.inference_mode():
            readings = [self._head.decide(pooled, features) for pooled in self._readings(pairs)]
            found: NDArray[np.float32] = label_logits(torch.stack(readings).mean(0), asks).cpu().numpy()
        return found

    def _readings(self, pairs: Sequence[tuple[str, str]]) -> list[Tensor]:
        """The pooled readings of the pairs, one for each of `PREMISE_WORDS`."""
        packed = [
            (pack_premise(premise, text, max_words=limit), text) for limit in PREMISE_WORDS for premise, text in pairs
        ]
        places = {pair: place for place, pair in enumerate(dict.fromkeys(packed))}
        inputs = self._encoder.tokenizer.pairs(list(places), self._adapter.spec.max_tokens)
        rows = np.stack(self._encoder.run(inputs, self._adapter.head, self._adapter.lora))
        chosen = rows[[places[pair] for pair in packed]]
        return [torch.from_numpy(part).to(self._encoder.device) for part in np.split(chosen, len(PREMISE_WORDS))]
