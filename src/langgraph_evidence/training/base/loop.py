"""The training loop that every head shares: what differs between heads is a `step` and a `measure`.

A head's training file reads its data (`training.data`), tokenises it, and calls `train`:

    adapter = Adapter(encoder, AdapterSpec("my_head", encoder.sha256, 32, ("no", "yes"), 192))
    inputs = encoder.tokenizer.pairs([(row.first, row.second) for row in rows], 192)

    def step(indexes):                          # indexes of one batch; returns the mean loss, with gradients
        batch = encoder.tokenizer.collate([inputs[i] for i in indexes], encoder.device)
        return F.cross_entropy(adapter.outputs(encoder, batch), labels[indexes])

    def measure(frozen):                        # metrics on fold 7; "score" decides: higher is better
        return {"score": accuracy(PairModel(encoder, frozen), held_out)}

    lengths, details = [len(tokens) for tokens in inputs], {"licences": "..."}
    train(adapter, lengths, step, measure, options=options, out=out, data=hashes, details=details)

An index may stand for a group of inputs (a question's candidates, a preferred and a rejected text); its length is then
their sum. Every random choice follows from the seed and the step's number, so a run that was killed and resumed ends
like one that was not.
"""

from __future__ import annotations

import copy
import importlib.metadata
import json
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base import save_adapter, token_batches, write_aside
from langgraph_evidence.training.base.checkpoint import load_checkpoint, save_checkpoint
from langgraph_evidence.training.base.options import Progress, TrainResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from langgraph_evidence.models.base import Adapter
    from langgraph_evidence.training.base.options import Report, TrainOptions

_POOL = 50
# So many first steps hardly count in a moving average: they are too far from where a run ends.
_SETTLING = 10


def epoch_batches(lengths: Sequence[int], budget: int, rng: np.random.Generator) -> list[list[int]]:
    """Batches of one epoch in random order: drawn at random, of similar lengths within, filled by token budget."""
    order = rng.permutation(len(lengths))
    mean = max(1.0, float(np.mean(lengths)))
    pool = max(1, int(_POOL * budget / mean))
    batches = []
    for start in range(0, len(order), pool):
        chosen = order[start : start + pool]
        groups = token_batches([lengths[index] for index in chosen], budget)
        batches.extend([[int(chosen[place]) for place in group] for group in groups])
    rng.shuffle(batches)
    return batches


def train(
    adapter: Adapter,
    lengths: Sequence[int],
    step: Callable[[list[int]], Tensor],
    measure: Callable[[Adapter], Mapping[str, float]],
    *,
    options: TrainOptions,
    out: Path,
    data: Mapping[str, str] | None = None,
    resume: bool = False,
    report: Report | None = None,
    details: Mapping[str, Any] | None = None,
) -> TrainResult:
    """Trains an adapter and leaves its best parameters in it; checkpoints and results.json are in `out`.

    Args:
        adapter: What is trained, in place.
        lengths: Tokens of each example, for batching.
        step: The mean loss of a batch of examples.
        measure: Metrics of a frozen copy; `score` decides which parameters are the best and when to stop.
        options: How.
        out: Folder of the checkpoint and the results.
        data: sha256 of each file the examples came from.
        resume: Go on from the checkpoint in `out`, where there is one.
        report: Called after each step.
        details: What the card says beside data and figures; with it the adapter is written to `out`, as it is left.

    Raises:
        InvalidInput: There are no examples.
        ResourceError: The checkpoint is damaged or of a run with other options or data.
    """
    if not lengths:
        raise InvalidInput("There are no training examples; check the data folder and the folds.")
    out.mkdir(parents=True, exist_ok=True)
    plan, hashes = _plan(lengths, options), dict(data or {})
    run = _Run(adapter=adapter, measure=measure, options=options, out=out, data=hashes, plan=plan, details=details)
    if resume:
        run.resume()
    run.train(step, report)
    return run.finish()


def _plan(lengths: Sequence[int], options: TrainOptions) -> list[list[int]]:
    plan: list[list[int]] = []
    for epoch in range(options.epochs):
        plan.extend(epoch_batches(lengths, options.batch_tokens, np.random.default_rng([options.seed, epoch])))
    return plan[: options.max_steps] if options.max_steps else plan


@dataclass(kw_only=True)
class _Run:
    """One run: the optimiser, the course, the best parameters."""

    adapter: Adapter
    measure: Callable[[Adapter], Mapping[str, float]]
    options: TrainOptions
    out: Path
    data: dict[str, str]
    plan: list[list[int]]
    details: Mapping[str, Any] | None = None
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        trained = [value for value in self.adapter.parameters() if value.requires_grad]
        options, self.device = self.options, trained[0].device
        self.optimizer = torch.optim.AdamW(trained, lr=options.learning_rate, weight_decay=options.weight_decay)
        self.average = {name: value.clone() for name, value in self.adapter.state_dict().items()}
        self.best = {name: value.clone() for name, value in self.average.items()}
        self.every = options.measure_every or max(1, len(self.plan) // max(1, options.epochs))

    @property
    def _identity(self) -> dict[str, Any]:
        return {"options": asdict(self.options), "data": self.data, "steps": len(self.plan)}

    def resume(self) -> None:
        state = load_checkpoint(self.out, self.adapter, self.optimizer, self._identity)
        if state is not None:
            self.progress, self.average, self.best = Progress(**state[0]), state[1], state[2]

    def _rate(self, step: int) -> float:
        warm = max(1, int(self.options.warmup * len(self.plan)))
        share = (step + 1) / warm if step < warm else (len(self.plan) - step) / max(1, len(self.plan) - warm)
        return self.options.learning_rate * min(1.0, share)

    def train(self, step: Callable[[list[int]], Tensor], report: Report | None) -> None:
        losses: list[float] = []
        started = time.monotonic() - self.progress.seconds
        while self.progress.step < len(self.plan) and self.progress.stale < self.options.patience:
            losses.append(self._step(step, self.plan[self.progress.step]))
            self.progress.step += 1
            if report is not None:
                report(self.progress.step, len(self.plan), losses[-1])
            if self.progress.step % self.every == 0 or self.progress.step == len(self.plan):
                self._measure(float(np.mean(losses)))
                losses.clear()
                self.progress.seconds = time.monotonic() - started
                self._save()

    def _save(self) -> None:
        progress = asdict(self.progress)
        save_checkpoint(
            self.out,
            self.adapter,
            self.optimizer,
            self._identity,
            progress=progress,
            average=self.average,
            best=self.best,
        )

    def _step(self, step: Callable[[list[int]], Tensor], indexes: list[int]) -> float:
        torch.manual_seed(self.options.seed * 1_000_003 + self.progress.step)
        self.adapter.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(self.progress.step)
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.autocast):
            loss = step(indexes)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.adapter.parameters(), self.options.clip)
        self.optimizer.step()
        self._follow()
        return float(loss.detach())

    def _follow(self) -> None:
        kept = min(self.options.average, (self.progress.step + 1) / (self.progress.step + _SETTLING))
        for name, value in self.adapter.state_dict().items():
            self.average[name].lerp_(value.to(self.average[name].device), 1 - kept)

    def _measure(self, loss: float) -> None:
        frozen = copy.deepcopy(self.adapter)
        frozen.load_state_dict(self.average)
        metrics = dict(self.measure(frozen))
        self.progress.history.append({"step": self.progress.step, "loss": loss, **metrics})
        if metrics["score"] > self.progress.best:
            self.progress.best, self.progress.stale = metrics["score"], 0
            self.best = {name: value.clone() for name, value in self.average.items()}
        else:
            self.progress.stale += 1

    def finish(self) -> TrainResult:
        self.adapter.load_state_dict(self.best)
        history = self.progress.history
        metrics = max(history, key=lambda entry: float(entry["score"])) if history else {}
        results = self._identity | {
            "head": self.adapter.spec.head,
            "base": self.adapter.spec.base,
            "best": metrics,
            "history": history,
            "seconds": round(self.progress.seconds, 1),
            "versions": {name: importlib.metadata.version(name) for name in ("torch", "tokenizers", "numpy")},
        }
        write_aside(self.out / "results.json", json.dumps(results, indent=2, sort_keys=True).encode())
        result = TrainResult({name: float(value) for name, value in metrics.items()}, self.progress)
        if self.details is not None:
            save_trained(self.adapter, self.out, data=self.data, figures=result.metrics, **self.details)
        return result


def save_trained(adapter: Adapter, out: Path, **details: Any) -> None:
    """Writes what `train` left as `<head>.safetensors`, with `details` added to what its card says."""
    adapter.spec = replace(adapter.spec, details=adapter.spec.details | details)
    save_adapter(adapter, out / f"{adapter.spec.head}.safetensors")
