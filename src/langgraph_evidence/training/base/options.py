"""How to train, what whoever starts a training decides of it, where it stands, and what it ended with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import TypedDict

Report = Callable[[int, int, float], None]
"""Is told the step, the number of all steps, and the loss."""


class Watch(TypedDict, total=False):
    """What whoever starts a training decides of it.

    Args:
        resume: Go on from the checkpoint in the output folder, where there is one.
        report: Is told of each step.
    """

    resume: bool
    report: Report | None


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How to train; every value is written to the results.

    Args:
        epochs: Passes over the data.
        learning_rate: AdamW's peak, after the warm-up.
        batch_tokens: Padded tokens in a batch.
        warmup: Share of the steps over which the rate rises.
        weight_decay: AdamW's decay.
        clip: Largest gradient norm.
        average: Decay of the parameters' moving average, which is what is measured and kept; 0 keeps the last ones.
        seed: Of order, dropout and initial values.
        measure_every: Steps between measurements and checkpoints; 0 measures once an epoch.
        patience: Measurements without a better score before it stops.
        max_steps: Stops after so many steps; 0 is no limit.
        autocast: Matrix products in bfloat16, weights and gradients in float32: about twice as fast where the processor
            multiplies it, and slower where it does not.
    """

    epochs: int = 3
    learning_rate: float = 1e-3
    batch_tokens: int = 4096
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.0
    seed: int = 0
    measure_every: int = 0
    patience: int = 3
    max_steps: int = 0
    autocast: bool = False


@dataclass
class Progress:
    """Where a run stands; everything in it is in the checkpoint.

    Args:
        step: Steps done.
        best: The best score so far.
        stale: Measurements since then.
        seconds: Time spent, over all resumptions.
        history: One entry a measurement: step, mean loss since the last, metrics.
    """

    step: int = 0
    best: float = float("-inf")
    stale: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class TrainResult:
    """What a run ended with: the metrics of the best measurement, and the whole course."""

    metrics: dict[str, float]
    progress: Progress
