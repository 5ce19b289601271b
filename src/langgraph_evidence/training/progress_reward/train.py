"""Trains the progress reward: a Bradley-Terry head that prefers the better next sentence."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import torch
import torch.nn.functional as F

from langgraph_evidence.models.base import Adapter, AdapterSpec
from langgraph_evidence.models.progress_reward import HEAD, LABELS, ProgressHead, VectorStepScorer, step_features
from langgraph_evidence.training.base import TRAIN_FOLDS, TUNE_FOLD, TrainOptions, train
from langgraph_evidence.training.progress_reward.data import make_pairs
from langgraph_evidence.training.progress_reward.evaluate import pairwise_accuracy

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import DataFolder, TrainResult, Watch

LICENCES = (
    "HotpotQA CC BY-SA 4.0; "
    "2WikiMultihopQA Apache-2.0 with Wikipedia text CC BY-SA; "
    "ASQA Apache-2.0; "
    "ALCE MIT; "
    "ExpertQA MIT"
)
# An "input" is a pair, its "token" one; vectors are computed once.
OPTIONS = TrainOptions(epochs=12, learning_rate=1e-3, batch_tokens=64, weight_decay=0.05, patience=4)


def train_progress_reward(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    **watch: Unpack[Watch],
) -> TrainResult:
    """Trains on folds 0-6, stops by fold 7, and writes the adapter to `out`."""
    rng = random.Random(options.seed)
    pairs, held_out = (make_pairs(data, folds, seed=options.seed) for folds in (TRAIN_FOLDS, [TUNE_FOLD]))
    rng.shuffle(pairs)
    torch.manual_seed(options.seed)
    head = ProgressHead(encoder.dimension)
    spec = AdapterSpec(HEAD, encoder.sha256, 0, LABELS, encoder.text_tokens)
    adapter = Adapter(encoder, spec, head)
    features = [torch.from_numpy(step_features(encoder, [pair.steps[side] for pair in pairs])) for side in (0, 1)]

    def step(indexes: list[int]) -> Tensor:
        better, worse = (head(side[indexes].to(encoder.device)) for side in features)
        return -F.logsigmoid(better - worse).mean()

    def measure(frozen: Adapter) -> dict[str, float]:
        return pairwise_accuracy(held_out, VectorStepScorer(encoder, frozen))

    lengths, details = [1] * len(pairs), {"licences": LICENCES, "options": asdict(options)}
    return train(adapter, lengths, step, measure, options=options, out=out, data=data.hashes, details=details, **watch)
