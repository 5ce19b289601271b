"""Training of the reader: point at the answer, tell span, yes, no and none apart.

The loss of an answer with several places is minus the log of their summed probability, for starts and for ends
(Clark & Gardner 2018); the kind's is cross-entropy, where QNLI's rows only say that there is an answer.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import torch

from langgraph_evidence.models.base import read_json, write_aside
from langgraph_evidence.models.reader import (
    KINDS,
    MAX_TOKENS,
    NONE_BIAS,
    AdapterSpans,
    Reader,
    ReaderHead,
    packed,
)
from langgraph_evidence.training.base import TRAIN_FOLDS, TUNE_FOLD, TrainOptions, save_trained, train
from langgraph_evidence.training.reader.alignment import align
from langgraph_evidence.training.reader.evaluate import evaluate_reader, none_bias, tune_metrics
from langgraph_evidence.training.reader.mixture import real_examples
from langgraph_evidence.training.reader.start import new_adapter, started_adapter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from torch import Tensor

    from langgraph_evidence.models.base import Adapter, Encoder
    from langgraph_evidence.models.reader import Window
    from langgraph_evidence.training.base import DataFolder, TrainResult, Watch
    from langgraph_evidence.training.reader.data import Example

__all__ = ["ReaderPlan", "Target", "evaluate_reader", "new_adapter", "reader_loss", "targets", "train_reader"]

LICENCES = (
    "HotpotQA CC BY-SA 4.0, 2WikiMultihopQA Apache-2.0, MuSiQue CC BY 4.0, QNLI CC BY-SA 4.0, PopQA MIT, "
    "SQuAD 1.1 and 2.0 CC BY-SA 4.0, AdversarialQA CC BY-SA 4.0, Natural Questions CC BY-SA 3.0, BoolQ CC BY-SA 3.0, "
    "DROP CC BY-SA 4.0"
)
READER_OPTIONS = TrainOptions(
    epochs=1,
    learning_rate=1.2e-4,
    batch_tokens=2600,
    warmup=0.03,
    average=0.995,
    measure_every=500,
    patience=10,
    autocast=True,
)


@dataclass(frozen=True, kw_only=True)
class ReaderPlan:
    """What is trained, on what.

    Args:
        rank: Width of the low-rank additions; 0 for none.
        layers: How many of the top layers are the reader's own; 0 for none.
        frozen_layers: Lowest layers without additions.
        max_tokens: Tokens of a training window.
        start: An adapter to go on from; low-rank additions are merged into own layers.
    """

    rank: int = 0
    layers: int = 4
    frozen_layers: int = 0
    max_tokens: int = MAX_TOKENS
    start: Path | None = None


_PLAN = ReaderPlan()


@dataclass(frozen=True)
class Target:
    """A window with what is to be learnt of it: its kind's index, -1 for "some answer", and the answer's tokens."""

    window: Window
    kind: int
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()


def targets(encoder: Encoder, examples: Collection[Example], max_tokens: int) -> list[Target]:
    """Examples as windows, packed as the reader packs them; an answer that no window can teach is left out."""
    made = []
    for example in examples:
        cut = packed(encoder.tokenizer, example.question, example.passages, max_tokens)
        if example.kind in {"some", "none"}:
            made.append(Target(cut[0], -1 if example.kind == "some" else KINDS.index("none")))
        else:
            made += [target for window in cut if (target := _answered(example, window)) is not None][:1]
    return made


def _answered(example: Example, window: Window) -> Target | None:
    """A window as an example that has an answer; None where it lacks the answer or a gold passage."""
    # A part of the gold passages would teach that incomplete evidence is enough.
    if not set(example.gold) <= set(window.passages):
        return None
    kind = KINDS.index(example.kind)
    if example.kind != "span":
        return Target(window, kind)
    starts, ends = align(window, example.passages, example.answers, example.gold)
    return Target(window, kind, starts, ends) if starts else None


def _places_loss(logits: Tensor, places: Sequence[tuple[int, ...]]) -> Tensor:
    """Minus the log of the summed probability of each row's places; rows without places cost nothing; summed."""
    told = [row for row, found in enumerate(places) if found]
    if not told:
        return logits.sum() * 0.0
    allowed = torch.full_like(logits, float("-inf"))
    for row in told:
        allowed[row, list(places[row])] = 0.0
    likely = logits.float().log_softmax(1) + allowed
    return -torch.logsumexp(likely[told], dim=1).sum()


def reader_loss(parts: tuple[Tensor, Tensor, Tensor], batch: Sequence[Target]) -> Tensor:
    """The mean loss of a batch.

    Args:
        parts: Start, end and kind logits of `ReaderHead.parts`.
        batch: What they should have been.
    """
    start, end, kind = parts
    spans = _places_loss(start, [t.starts for t in batch]) + _places_loss(end, [t.ends for t in batch])
    likely = kind.float().log_softmax(1)
    wanted = torch.zeros_like(likely, dtype=torch.bool)
    for row, target in enumerate(batch):
        wanted[row, [target.kind] if target.kind >= 0 else [0, 1, 2]] = True
    kinds = -torch.logsumexp(likely.masked_fill(~wanted, float("-inf")), dim=1).sum()
    return (spans / 2 + kinds) / len(batch)


def make_step(encoder: Encoder, adapter: Adapter, learnt: Sequence[Target]) -> Callable[[list[int]], Tensor]:
    """The training loop's step over targets."""
    head = adapter.head
    if not isinstance(head, ReaderHead):
        raise TypeError(f"The reader's adapter has a {type(head).__name__}, not a ReaderHead.")

    def step(indexes: list[int]) -> Tensor:
        chosen = [learnt[index] for index in indexes]
        batch = encoder.tokenizer.collate([target.window.tokens for target in chosen], encoder.device)
        return reader_loss(head.parts(encoder.hidden(batch, adapter.change), batch), chosen)

    return step


def train_reader(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    plan: ReaderPlan = _PLAN,
    options: TrainOptions = READER_OPTIONS,
    **watch: Unpack[Watch],
) -> TrainResult:
    """Trains on folds 0-6, stops by fold 7, and writes the adapter to `out`, with its table among the results.

    Data sets that are not there are left out.
    """
    adapter = _first_adapter(encoder, plan)
    learnt = targets(encoder, [*real_examples(data, TRAIN_FOLDS, options.seed)], plan.max_tokens)
    lengths, step = [len(target.window.tokens) for target in learnt], make_step(encoder, adapter, learnt)

    def measure(frozen: Adapter) -> dict[str, float]:
        return tune_metrics(Reader(AdapterSpans(encoder, frozen, cached=0)), data, TUNE_FOLD)

    result = train(adapter, lengths, step, measure, options=options, out=out, data=data.hashes, **watch)
    bias = {NONE_BIAS: none_bias(_reader(encoder, adapter), data, TUNE_FOLD)}
    save_trained(adapter, out, **_details(data, result, options), **bias)
    table = evaluate_reader(data.root, reader=_reader(encoder, adapter), encoder=encoder)
    results = read_json(out / "results.json") | {"evaluation": table["rows"]}
    write_aside(out / "results.json", json.dumps(results, indent=2, sort_keys=True).encode())
    return result


def _first_adapter(encoder: Encoder, plan: ReaderPlan) -> Adapter:
    adapter = new_adapter(encoder, plan.rank, layers=plan.layers, frozen_layers=plan.frozen_layers)
    return adapter if plan.start is None else started_adapter(encoder, adapter, plan.start)


def _reader(encoder: Encoder, adapter: Adapter) -> Reader:
    """A reader over a copy, since a frozen adapter takes the base's type."""
    return Reader(AdapterSpans(encoder, copy.deepcopy(adapter)))


def _details(folder: DataFolder, result: TrainResult, options: TrainOptions) -> dict[str, Any]:
    return {
        "licence": LICENCES,
        "data": folder.hashes,
        "figures": result.metrics,
        "steps": result.progress.step,
        "seed": options.seed,
    }
