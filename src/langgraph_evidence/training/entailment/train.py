"""Training and measuring the entailment head.

Every step sees one group of pairs drawn from all sources, small sources more often than their size, and within a
source entailed and other pairs weigh the same: so one threshold serves all sources.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import torch
import torch.nn.functional as F

from langgraph_evidence.models.base import Adapter, AdapterSpec, load_adapter, softmax, token_batches
from langgraph_evidence.models.entailment import (
    LABELS3,
    MAX_TOKENS,
    OUTPUTS,
    EntailmentHead,
    HeadScorer,
    all_features,
    build_head,
    is_question,
    pack_premise,
)
from langgraph_evidence.training.base import (
    TRAIN_FOLDS,
    TUNE_FOLD,
    TrainOptions,
    balanced_accuracy,
    best_threshold,
    save_trained,
    train,
)
from langgraph_evidence.training.entailment.data import LABELS, NliPair, derived_pairs, natural_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import DataFolder, TrainResult, Watch

_PREMISE_WORDS = (80, 120, 180)
_TRAIN_TOKENS = 256
_MICRO_TOKENS = 2048
_NOT = LABELS.index("not_entailment")
_LICENCES = (
    "SNLI CC BY-SA 4.0; MultiNLI OANC and mixed; QNLI (SQuAD) CC BY-SA 4.0; FEVER, FEVEROUS, FEVER-symmetric, VitaminC "
    "CC BY-SA 3.0; HoVer CC BY-SA 4.0; FoolMeTwice Apache-2.0 with Wikipedia text CC BY-SA; SciFact CC BY 4.0 with "
    "abstracts ODC-BY; WiCE ODC-BY with Wikipedia text CC BY-SA; ExpertQA MIT"
)
_CAUTION = (
    "The SNLI pairs are the official development and test sets: no SNLI benchmark score may be reported for this head."
)


@dataclass(frozen=True, kw_only=True)
class EntailmentOptions:
    """What is learnt from, and how large the adapter is.

    Args:
        rank: Width of the low-rank additions.
        inner: Width of the head's hidden layer.
        steps: Groups of pairs; each is one step.
        group: Pairs in a group.
        evenness: A source's share is its number of pairs to this power: 1 by size, 0 all alike.
        derived: Share of derived pairs, where a source has them.
        hide_features: How often a group's features are left out, so that the encoder learns to do without.
        fine: Weight of the 3-way loss where the label tells neutral from contradiction.
        start: An adapter of this head, rank and width to go on from.
    """

    rank: int = 48
    inner: int = 256
    steps: int = 2000
    group: int = 48
    evenness: float = 0.65
    derived: float = 0.35
    hide_features: float = 0.25
    fine: float = 0.4
    start: Path | None = None


_OPTIONS = EntailmentOptions()
_LOOP = TrainOptions(epochs=1, learning_rate=8e-4, average=0.99, measure_every=250, patience=6)


def train_entailment(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: EntailmentOptions = _OPTIONS,
    loop: TrainOptions = _LOOP,
    **watch: Unpack[Watch],
) -> TrainResult:
    """Trains on folds 0-6, chooses by fold 7, and writes the adapter with its threshold to `out`.

    Raises:
        ResourceError: The data are missing or damaged.
    """
    natural, tuned = natural_pairs(data, TRAIN_FOLDS), natural_pairs(data, [TUNE_FOLD])
    pairs = natural + derived_pairs(data, natural, loop.seed)
    torch.manual_seed(loop.seed)
    run = _Lessons(encoder, pairs, options, loop.seed)
    adapter, lengths = run.adapter, run.lengths

    def measure(frozen: Adapter) -> dict[str, float]:
        return _tune_metrics(encoder, frozen, tuned)[0]

    flow = replace(loop, batch_tokens=1)  # one group is always one batch
    result = train(adapter, lengths, run.step, measure, options=flow, out=out, data=data.hashes, **watch)
    metrics, threshold = _tune_metrics(encoder, copy.deepcopy(adapter), tuned)
    save_trained(adapter, out, threshold=threshold, fold_7=metrics, data_sha256=data.hashes)
    return result


def describe(pairs: Sequence[NliPair], options: EntailmentOptions) -> dict[str, Any]:
    """What the card says of the data: counts, licences, caution."""
    counts = Counter(f"{pair.source}{' (derived)' if pair.derived else ''}" for pair in pairs)
    return {"inner": options.inner, "pairs": dict(sorted(counts.items())), "licences": _LICENCES, "caution": _CAUTION}


def _tune_metrics(encoder: Encoder, adapter: Adapter, pairs: Sequence[NliPair]) -> tuple[dict[str, float], float]:
    """Balanced accuracy at 0.5 by source, their mean as `score`, and the threshold that would be best."""
    found = softmax(HeadScorer(encoder, adapter).logits([(pair.premise, pair.hypothesis) for pair in pairs]))[
        :, 0
    ].astype(float)
    truth = np.array([pair.entailed for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    metrics = {}
    for source in dict.fromkeys(sources.tolist()):
        group = sources == source
        if 0 < truth[group].sum() < group.sum():
            metrics[source] = balanced_accuracy(found[group] >= 0.5, truth[group])
    return metrics | {"score": float(np.mean(list(metrics.values())))}, best_threshold(found, truth, sources)


def _known(encoder: Encoder, path: Path) -> dict[str, Tensor]:
    known = load_adapter(
        encoder, path, "entailment", labels=OUTPUTS, build_head=lambda spec: build_head(encoder.dimension, spec)
    )
    return {name: value.float() for name, value in known.state_dict().items()}


class _Lessons:
    """The adapter, the groups drawn for it, and the loss of a group.

    Args:
        encoder: The base.
        pairs: Natural and derived pairs of the training folds.
        options: Mixture and size.
        seed: Of the draw.
    """

    def __init__(self, encoder: Encoder, pairs: Sequence[NliPair], options: EntailmentOptions, seed: int) -> None:
        self.encoder, self.options = encoder, options
        head = EntailmentHead(encoder.dimension, inner=options.inner)
        features = torch.from_numpy(all_features(encoder, [(pair.premise, pair.hypothesis) for pair in pairs]))
        details = describe(pairs, options)
        spec = AdapterSpec("entailment", encoder.sha256, options.rank, OUTPUTS, MAX_TOKENS, details)
        self.adapter = Adapter(encoder, spec, head)
        if options.start is None:
            head.center.copy_(features.mean(0))
            head.spread.copy_(features.std(0) + 1e-6)
        else:
            self.adapter.load_state_dict(_known(encoder, options.start))
        self._head = head
        self._features = head.scale(features.to(encoder.device))
        self._labels = torch.tensor([LABELS.index(pair.label) for pair in pairs], device=encoder.device)
        self._asks = torch.tensor([is_question(pair.hypothesis) for pair in pairs], device=encoder.device)
        self._weights = torch.tensor(balance(pairs), device=encoder.device)
        self._draw(pairs, random.Random(seed))

    def _draw(self, pairs: Sequence[NliPair], rng: random.Random) -> None:
        drawn = mixture(pairs, self.options, rng)
        words = [rng.choice(_PREMISE_WORDS) for _ in drawn]
        texts = [
            (pack_premise(pairs[index].premise, pairs[index].hypothesis, max_words=limit), pairs[index].hypothesis)
            for index, limit in zip(drawn, words, strict=True)
        ]
        self._inputs = self.encoder.tokenizer.pairs(texts, _TRAIN_TOKENS)
        size = self.options.group
        self._drawn = [drawn[start : start + size] for start in range(0, len(drawn), size)]
        self.lengths = [sum(map(len, self._inputs[start : start + size])) for start in range(0, len(drawn), size)]

    def step(self, indexes: list[int]) -> Tensor:
        """The mean loss of groups."""
        return torch.stack([self._group_loss(index) for index in indexes]).mean()

    def _group_loss(self, number: int) -> Tensor:
        rows = torch.tensor(self._drawn[number], device=self.encoder.device)
        inputs = self._inputs[number * self.options.group :][: len(rows)]
        losses = []
        for places in token_batches([len(tokens) for tokens in inputs], _MICRO_TOKENS):
            batch = self.encoder.tokenizer.collate([inputs[place] for place in places], self.encoder.device)
            chosen = rows[places]
            features = self._features[chosen]
            shown = torch.rand(len(places), 1, device=features.device) >= self.options.hide_features
            logits = self._head.decide(self.adapter.outputs(self.encoder, batch), features * shown)
            losses.append(self._weights[chosen] * self._losses(logits, chosen))
        return torch.cat(losses).mean()

    def _losses(self, logits: Tensor, chosen: Tensor) -> Tensor:
        labels, asks = self._labels[chosen], self._asks[chosen]
        return pair_losses(logits, labels, asks, fine=self.options.fine)


def pair_losses(logits: Tensor, labels: Tensor, asks: Tensor, *, fine: float) -> Tensor:
    """The loss of each pair, (batch,).

    Entailed against the sum of neutral and contradiction, with a 3-way part where the label tells the two apart; a
    question by the `answers` logit alone.

    Args:
        logits: (batch, outputs).
        labels: Indexes into `LABELS`, (batch,).
        asks: Whether the hypothesis is a question, (batch,).
        fine: Weight of the 3-way part.
    """
    states = F.log_softmax(logits[:, : len(LABELS3)], dim=-1)
    entailed = (labels == 0).float()
    coarse = -(entailed * states[:, 0] + (1 - entailed) * torch.logsumexp(states[:, 1:], dim=-1))
    exact = -states.gather(1, labels.clamp(max=len(LABELS3) - 1).unsqueeze(1)).squeeze(1)
    stated = torch.where(labels == _NOT, coarse, (1 - fine) * coarse + fine * exact)
    answered = F.binary_cross_entropy_with_logits(logits[:, len(LABELS3)], entailed, reduction="none")
    return torch.where(asks, answered, stated)


def balance(pairs: Sequence[NliPair]) -> list[float]:
    """A weight a pair, so that entailed and other pairs of a source, natural and derived apart, weigh the same."""
    counts = Counter((pair.source, pair.derived, pair.entailed) for pair in pairs)
    weights = []
    for pair in pairs:
        same = counts[pair.source, pair.derived, pair.entailed]
        both = same + counts[pair.source, pair.derived, not pair.entailed]
        weights.append(0.5 / min(max(same / both, 0.05), 0.95))
    return weights


def mixture(pairs: Sequence[NliPair], options: EntailmentOptions, rng: random.Random) -> list[int]:
    """Indexes of the pairs of all groups, in order: the source by its share, then the next pair of a shuffled round."""
    pools: dict[tuple[str, bool], list[int]] = {}
    for index, pair in enumerate(pairs):
        pools.setdefault((pair.source, pair.derived), []).append(index)
    sources = [source for source, derived in pools if not derived]
    shares = [len(pools[source, False]) ** options.evenness for source in sources]
    rounds = {key: _rounds(pool, rng) for key, pool in pools.items()}
    drawn = []
    for source in rng.choices(sources, shares, k=options.steps * options.group):
        derived = (source, True) in pools and rng.random() < options.derived
        drawn.append(next(rounds[source, derived]))
    return drawn


def _rounds(pool: Sequence[int], rng: random.Random) -> itertools.chain[int]:
    return itertools.chain.from_iterable(rng.sample(pool, len(pool)) for _ in itertools.count())
