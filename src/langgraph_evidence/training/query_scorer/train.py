"""Trains FuRePA's query scorer: BCE on s_j plus alpha times the error of 1 / sum s_j against 1 / g (eqs. 8, 9)."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from langgraph_evidence.methods.furepa import FurepaSettings
from langgraph_evidence.models.base import Adapter, AdapterSpec
from langgraph_evidence.models.query_scorer import FEATURES, HEAD, LABELS, QueryHead, pool_features
from langgraph_evidence.training.base import (
    TRAIN_FOLDS,
    TUNE_FOLD,
    DataFolder,
    TrainOptions,
    TrainResult,
    save_trained,
    train,
)
from langgraph_evidence.training.query_scorer.data import Pool, read_pools
from langgraph_evidence.training.query_scorer.evaluate import measure_pools
from langgraph_evidence.training.query_scorer.rollouts import read_rollouts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from torch import Tensor, nn

    from langgraph_evidence.models.base import Encoder

LICENCES = (
    "HotpotQA CC BY-SA 4.0; 2WikiMultihopQA Apache-2.0 with Wikipedia text CC BY-SA; MuSiQue CC BY 4.0; Break MIT"
)
# An "input" here is a round of queries and its "tokens" are (query, passage) pairs; features are computed once.
OPTIONS = TrainOptions(epochs=8, learning_rate=3e-3, batch_tokens=800, weight_decay=0.05, measure_every=150, patience=6)
ALPHA = 0.1
QUESTIONS = 450
"""Questions to train on: encoding their passages is nearly all the time that training takes."""
TEMPERATURES = (0.2, 1.0)
"""Of the rollouts; the paper's two first temperatures (section 4.1)."""


@dataclass(frozen=True)
class Round:
    """Some candidate queries over a question's passages, ready to train on.

    Args:
        features: (queries, passages, FEATURES).
        labels: (queries, passages), 1 up to the first gold passage.
        reciprocal: (queries,), 1 / g.
    """

    features: Tensor
    labels: Tensor
    reciprocal: Tensor


def make_rounds(encoder: Encoder, pools: Sequence[Pool], *, seed: int, parts: int = 3) -> list[Round]:
    """All candidates of a pool as one round, and `parts` rounds of a few of them, as a graph proposes them."""
    rng, rounds = random.Random(seed), []
    for pool in pools:
        everything = list(range(len(pool.queries)))
        for part in range(parts + 1):
            size = rng.randint(2, 6) if part else len(everything)
            chosen = everything if len(everything) <= size else sorted(rng.sample(everything, size))
            rounds.append(_round(encoder, pool, chosen))
    return rounds


def _round(encoder: Encoder, pool: Pool, chosen: Sequence[int]) -> Round:
    features = pool_features(encoder, [pool.queries[index] for index in chosen], pool.passages)
    labels = torch.tensor([pool.labels(index) for index in chosen])
    reciprocal = torch.tensor([1 / pool.gold_rank(index) for index in chosen])
    return Round(torch.from_numpy(features), labels, reciprocal)


def scorer_loss(logits: Tensor, labels: Tensor, reciprocal: Tensor, *, alpha: float = ALPHA) -> Tensor:
    """Eq. 9 for one round: logits and labels (queries, passages), reciprocal ranks (queries,).

    The sum of eq. 8 is kept at 1 or more: no query is better than one that finds its passage first.
    """
    predicted = 1 / torch.sigmoid(logits).sum(1).clamp(min=1)
    return F.binary_cross_entropy_with_logits(logits, labels) + alpha * F.mse_loss(predicted, reciprocal)


@dataclass
class _Measured:
    """A head on the held-out pools, whose features are computed at the first measurement and kept."""

    encoder: Encoder
    pools: Sequence[Pool]
    rollouts: Sequence[Pool]
    head: nn.Module = field(default_factory=QueryHead)
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], Tensor] = field(default_factory=dict)
    trained = True

    def score(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        key = (tuple(queries), tuple(passages))
        if key not in self.known:
            self.known[key] = torch.from_numpy(pool_features(self.encoder, queries, passages))
        with torch.inference_mode():
            scores: list[list[float]] = torch.sigmoid(self.head(self.known[key])).tolist()
        return scores

    def figures(self, frozen: Adapter) -> dict[str, float]:
        self.head = frozen.head.eval()
        figures = measure_pools(self, self.pools)
        graph = measure_pools(self, self.rollouts) if self.rollouts else {}
        asked = {f"graph {name}": graph[name] for name in graph if name != "question"}
        return figures | asked | {"score": figures["f1"] + figures["chosen"] + graph.get("chosen", 0.0)}


def train_query_scorer(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    limit: int = QUESTIONS,
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Trains on folds 0-6 (`limit` questions, or all with 0), stops by fold 7, and writes the adapter to `out`."""
    rounds = training_rounds(encoder, data, seed=options.seed, limit=limit)
    measured = _Measured(encoder, read_pools(data, [TUNE_FOLD], seed=options.seed), read_rollouts(data, [TUNE_FOLD]))
    torch.manual_seed(options.seed)
    head = QueryHead()
    head.fit_scale(torch.cat([item.features.reshape(-1, FEATURES) for item in rounds]))
    spec = AdapterSpec(HEAD, encoder.sha256, 0, LABELS, encoder.text_tokens)
    adapter = Adapter(encoder, spec, head)

    def step(indexes: list[int]) -> Tensor:
        losses = [
            scorer_loss(head(rounds[index].features), rounds[index].labels, rounds[index].reciprocal)
            for index in indexes
        ]
        return torch.stack(losses).mean()

    lengths, measure = [item.labels.numel() for item in rounds], measured.figures
    result = train(
        adapter, lengths, step, measure, options=options, out=out, data=data.hashes, resume=resume, report=report
    )
    chosen = {"alpha": ALPHA, "questions": limit, "temperatures": TEMPERATURES, "options": asdict(options)}
    save_trained(adapter, out, data=data.hashes, licences=LICENCES, figures=result.metrics, **chosen)
    return result


def training_rounds(encoder: Encoder, data: DataFolder, *, seed: int, limit: int) -> list[Round]:
    """The rounds of `limit` questions of folds 0-6, or of all with 0: their candidates and their rollouts."""
    pools = read_pools(data, TRAIN_FOLDS, seed=seed)
    random.Random(seed + 1).shuffle(pools)
    chosen = pools[: limit or None]
    questions = {pool.question for pool in chosen}
    searches = [
        pool
        for settings in (FurepaSettings(temperature=temperature) for temperature in TEMPERATURES)
        for pool in read_rollouts(data, TRAIN_FOLDS, seed=seed, questions=questions, settings=settings)
    ]
    rounds = make_rounds(encoder, chosen, seed=seed)
    return rounds + [_round(encoder, pool, range(len(pool.queries))) for pool in searches]
