"""Training and measuring the entailment head.

Pairs are drawn from all sources, small sources more often than their size, and within a source entailed and other
pairs weigh the same: so one threshold serves all sources. A batch holds pairs of like lengths.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import torch
import torch.nn.functional as F

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base import Adapter, AdapterSpec, read_tensors, softmax
from langgraph_evidence.models.entailment import LABELS3, MAX_TOKENS, OUTPUTS, HeadScorer, is_question, pack_premise
from langgraph_evidence.training.base import (
    TUNE_FOLD,
    TrainOptions,
    balanced_accuracy,
    best_threshold,
    save_trained,
    train,
)
from langgraph_evidence.training.entailment.data import training_pairs, tuning_pairs, without_leaks
from langgraph_evidence.training.entailment.mixture import balance, limited, mixture
from langgraph_evidence.training.entailment.options import EntailmentOptions
from langgraph_evidence.training.entailment.pairs import LABELS, NliPair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.base import DataFolder, TrainResult, Watch

_PREMISE_WORDS = (60, 90, 130)
_TRAIN_TOKENS = 224
_LORA_SCALE = 2.0  # what `Lora` multiplies its additions by
_MEASURED, _THRESHOLD = 20, 250
"""Pairs of each source while it trains, and for the threshold at the end."""
_NOT = LABELS.index("not_entailment")
_LICENCES = (
    "SNLI CC BY-SA 4.0; MultiNLI OANC and mixed; QNLI, SQuAD 1.1 and 2.0, AdversarialQA CC BY-SA 4.0; FEVER, "
    "FEVEROUS, FEVER-symmetric, VitaminC CC BY-SA 3.0; HoVer, HotpotQA, DROP, Breaking NLI CC BY-SA 4.0; Natural "
    "Questions, BoolQ CC BY-SA 3.0; MuSiQue, BEGIN CC BY 4.0; 2WikiMultihopQA Apache-2.0; FoolMeTwice Apache-2.0 "
    "with Wikipedia text CC BY-SA; SciFact CC BY 4.0 with abstracts ODC-BY; WiCE ODC-BY with Wikipedia text CC BY-SA; "
    "ExpertQA MIT"
)
_CAUTION = (
    "The SNLI pairs are the official development and test sets, the SQuAD, HotpotQA, 2Wiki, MuSiQue and DROP ones in "
    "part the official development sets: no score on those benchmarks may be reported for this head."
)


_OPTIONS = EntailmentOptions()
_LOOP = TrainOptions(
    epochs=1, learning_rate=1.5e-4, batch_tokens=2048, warmup=0.03, average=0.995, measure_every=250, patience=100,
    autocast=True,
)  # fmt: skip


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
    tuned = tuning_pairs(data, [TUNE_FOLD], loop.seed)
    pairs = without_leaks(training_pairs(data, loop.seed), tuned)
    torch.manual_seed(loop.seed)
    run = _Lessons(encoder, pairs, options, loop.seed)
    adapter, watched = run.adapter, limited(tuned, _MEASURED, loop.seed)

    def measure(frozen: Adapter) -> dict[str, float]:
        return _tune_metrics(encoder, frozen, watched)[0]

    result = train(adapter, run.lengths, run.step, measure, options=loop, out=out, data=data.hashes, **watch)
    chosen = limited(tuned, _THRESHOLD, loop.seed)
    metrics, threshold = _tune_metrics(encoder, copy.deepcopy(adapter), chosen)
    save_trained(adapter, out, threshold=threshold, fold_7=metrics, data_sha256=data.hashes, seed=loop.seed)
    return result


def describe(pairs: Sequence[NliPair]) -> dict[str, Any]:
    """What the card says of the data: counts, licences, caution."""
    counts = Counter(f"{pair.source}{' (derived)' if pair.derived else ''}" for pair in pairs)
    return {"pairs": dict(sorted(counts.items())), "licences": _LICENCES, "caution": _CAUTION}


def _tune_metrics(encoder: Encoder, adapter: Adapter, pairs: Sequence[NliPair]) -> tuple[dict[str, float], float]:
    """Balanced accuracy at 0.5 by source, their mean as `score`, and the threshold that would be best."""
    logits = HeadScorer(encoder, adapter).logits([(pair.premise, pair.hypothesis) for pair in pairs])
    found = softmax(logits)[:, 0].astype(float)
    truth = np.array([pair.entailed for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    metrics = {}
    for source in dict.fromkeys(sources.tolist()):
        group = sources == source
        if 0 < truth[group].sum() < group.sum():
            metrics[source] = balanced_accuracy(found[group] >= 0.5, truth[group])
    return metrics | {"score": float(np.mean(list(metrics.values())))}, best_threshold(found, truth, sources)


class _Lessons:
    """The adapter, the pairs drawn for it, and the loss of a batch.

    Args:
        encoder: The base.
        pairs: What is learnt from.
        options: Mixture and size.
        seed: Of the draw.
    """

    def __init__(self, encoder: Encoder, pairs: Sequence[NliPair], options: EntailmentOptions, seed: int) -> None:
        self.encoder, self._fine = encoder, options.fine
        details, layers = describe(pairs), 0 if options.rank else options.layers
        spec = AdapterSpec("entailment", encoder.sha256, options.rank, OUTPUTS, MAX_TOKENS, details, layers)
        self.adapter = Adapter(encoder, spec)
        if options.start is not None:
            start_from(self.adapter, options.start)
        if self.adapter.own is not None:
            for layer in list(self.adapter.own.layers)[: options.frozen]:
                layer.requires_grad_(requires_grad=False)
        weights = balance(pairs)
        rng = random.Random(seed)
        drawn = mixture(pairs, options, rng)
        texts = [_packed(pairs[index], rng) for index in drawn]
        self._inputs = encoder.tokenizer.pairs(texts, _TRAIN_TOKENS)
        self._labels = torch.tensor([LABELS.index(pairs[index].label) for index in drawn], device=encoder.device)
        self._asks = torch.tensor([is_question(pairs[index].hypothesis) for index in drawn], device=encoder.device)
        self._weights = torch.tensor([weights[index] for index in drawn], device=encoder.device)
        self.lengths = [len(tokens) for tokens in self._inputs]

    def step(self, indexes: list[int]) -> Tensor:
        """The mean loss of a batch of pairs."""
        batch = self.encoder.tokenizer.collate([self._inputs[index] for index in indexes], self.encoder.device)
        logits = self.adapter.outputs(self.encoder, batch).float()
        losses = pair_losses(logits, self._labels[indexes], self._asks[indexes], fine=self._fine)
        return (self._weights[indexes] * losses).mean()


def start_from(adapter: Adapter, path: Path) -> None:
    """Gives an adapter the parameters of a file: all of one of its own kind, or the low-rank additions of another.

    Low-rank additions are added to the layers they belong to; the head of such a file is left.

    Raises:
        ResourceError: The file is missing or damaged.
        InvalidInput: It is neither.
    """
    tensors, _ = read_tensors(path)
    own = adapter.own
    if {name: value.shape for name, value in tensors.items()} == _shapes(adapter):
        adapter.load_state_dict({name: value.float() for name, value in tensors.items()})
        return
    places = [name.removeprefix("lora.a.") for name in tensors if name.startswith("lora.a.")]
    if own is None or not places:
        raise InvalidInput(f"{path} has other parameters than the adapter that is to start from it, and no additions.")
    with torch.no_grad():
        for place in places:
            layer, _, linear = place.partition("_")
            if own.at(int(layer)) is not None:
                added = tensors[f"lora.b.{place}"].float() @ tensors[f"lora.a.{place}"].float()
                own.get_parameter(f"layers.{int(layer) - own.first}.linears.{linear}.weight").add_(_LORA_SCALE * added)


def _shapes(adapter: Adapter) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in adapter.state_dict().items()}


def _packed(pair: NliPair, rng: random.Random) -> tuple[str, str]:
    return pack_premise(pair.premise, pair.hypothesis, max_words=rng.choice(_PREMISE_WORDS)), pair.hypothesis


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
