"""Trains the sentence ranker on supporting sentences of HotpotQA, 2Wiki, Fool Me Twice and WiCE, and on QNLI."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import numpy as np
import torch

from langgraph_evidence.models.base import Adapter, AdapterSpec
from langgraph_evidence.models.sentence_ranker import HEAD, LABELS, RankerModel, SentenceRanker
from langgraph_evidence.training.base import TRAIN_FOLDS, TUNE_FOLD, TrainOptions, group_step, train
from langgraph_evidence.training.sentence_ranker.data import make_groups, read_lists, shorten
from langgraph_evidence.training.sentence_ranker.evaluate import list_rows

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import DataFolder, TrainResult, Watch

LICENCES = (
    "HotpotQA CC BY-SA 4.0; "
    "2WikiMultihopQA Apache-2.0 and FoolMeTwice Apache-2.0, both with Wikipedia text CC BY-SA; "
    "WiCE ODC-BY with Wikipedia text CC BY-SA; "
    "QNLI (SQuAD) CC BY-SA 4.0"
)
OPTIONS = TrainOptions(epochs=1, learning_rate=1e-3, batch_tokens=2048, average=0.95, measure_every=150, patience=4)
RANK, MAX_TOKENS = 32, 112
# A pass over all 9,194 would take almost twice as long.
GROUPS = 5000
# Lists of fold 7 that are measured to choose a checkpoint: all of them would take too long.
TUNE_LISTS = 160


def train_sentence_ranker(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    **watch: Unpack[Watch],
) -> TrainResult:
    """Trains on folds 0-6, stops by lists of fold 7, and writes the adapter to `out`."""
    rng = random.Random(options.seed)
    groups = make_groups(data, TRAIN_FOLDS, seed=options.seed)
    rng.shuffle(groups)
    groups = groups[:GROUPS]
    held_out = [shorten(item, 12) for item in read_lists(data, [TUNE_FOLD])]
    rng.shuffle(held_out)
    spec = AdapterSpec(HEAD, encoder.sha256, RANK, LABELS, MAX_TOKENS)
    torch.manual_seed(options.seed)
    adapter = Adapter(encoder, spec)
    lengths, step = group_step(encoder, adapter, groups, absolute=0.5)

    def measure(frozen: Adapter) -> dict[str, float]:
        rows = list_rows(held_out[:TUNE_LISTS], SentenceRanker(RankerModel(encoder, frozen)).score)
        return {"score": float(np.mean([row["precision"] for row in rows]))}

    chosen = asdict(options) | {"groups": GROUPS, "tune_lists": TUNE_LISTS}
    details = {"licences": LICENCES, "options": chosen}
    return train(adapter, lengths, step, measure, options=options, out=out, data=data.hashes, details=details, **watch)
