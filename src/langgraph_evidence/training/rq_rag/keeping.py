"""What a run keeps: the best weights by the loss on fold 7, a checkpoint every few minutes, a card that says all."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import torch
from transformers import TrainerCallback
from typing_extensions import override

from langgraph_evidence.models.base import read_json, write_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

CARD = "card.json"
_COURSE = "course.json"
_LOSS = "eval_loss"


class Keeper(TrainerCallback):  # type: ignore[misc]  # mypy does not follow transformers
    """Writes the adapter whenever the loss on fold 7 is lower than ever before, over all resumptions.

    Args:
        out: The run's folder: its course is there, and the adapter in `folder`.
        folder: Of the adapter (or of all weights) and its card.
        card: What the card says beside the figures.
        minutes: Between checkpoints.
        report: Is told the step, the number of all steps, and the loss.
    """

    def __init__(
        self,
        out: Path,
        folder: Path,
        card: Mapping[str, Any],
        *,
        minutes: float,
        report: Callable[[int, int, float], None] | None = None,
    ) -> None:
        self._out, self._folder, self._card, self._report = out, folder, card, report
        self._between, self._saved = minutes * 60, time.monotonic()
        self.history: list[dict[str, float]] = []

    def resume(self) -> None:
        """Takes up the course of a run before."""
        path = self._out / _COURSE
        self.history = list(read_json(path)["history"]) if path.is_file() else []

    @property
    def best(self) -> dict[str, float]:
        """The measurement with the lowest loss; empty before the first."""
        return min(self.history, key=lambda entry: entry["loss"], default={})

    @override
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Asks for a checkpoint when its time has come."""
        if time.monotonic() - self._saved >= self._between:
            self._saved, control.should_save = time.monotonic(), True

    @override
    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Tells the loss of training."""
        if self._report is not None and logs and "loss" in logs:
            self._report(state.global_step, state.max_steps, logs["loss"])

    @override
    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: dict[str, float], **kwargs: Any) -> None:
        """Notes a measurement, and writes the weights where it is the best."""
        if not state.is_world_process_zero:
            return
        # A run that is resumed may measure a step again.
        self.history = [entry for entry in self.history if entry["step"] < state.global_step]
        better = metrics[_LOSS] < self.best.get("loss", float("inf"))
        self.history.append({"step": state.global_step, "loss": metrics[_LOSS]})
        if better:
            save_weights(kwargs["model"], kwargs["processing_class"], self._folder)
            card = dict(self._card) | {"fold_7": self.history[-1], "steps_planned": state.max_steps}
            write_aside(self._folder / CARD, json.dumps(card, indent=2, sort_keys=True).encode())
        write_aside(self._out / _COURSE, json.dumps({"history": self.history}, indent=2).encode())


def save_weights(model: Any, tokenizer: Any, folder: Path) -> None:
    """Writes an adapter in half precision, or all weights; the tokenizer goes along where it is not the base's own."""
    folder.mkdir(parents=True, exist_ok=True)
    if not hasattr(model, "peft_config"):
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return
    if any("trainable_tokens" in name for name, _ in model.named_parameters()):
        tokenizer.save_pretrained(folder)
    halves = {name: value.detach().to(torch.float16) for name, value in model.named_parameters() if value.requires_grad}
    # Whether the embeddings were resized is asked of the hub otherwise; rows that are new are among the halves.
    model.save_pretrained(folder, state_dict=halves, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)
