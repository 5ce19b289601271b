"""Any extractive question-answering model of the transformers library as the reader's model of places."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base import read_config, read_pretrained
from langgraph_evidence.models.reader.spans import WindowScores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_OUTSIDE = -1e4
_SEPARATOR = "\n"
_BATCH = 8


class FullSpans:
    """A model with a question-answering head (BERT, RoBERTa, DeBERTa, ... tuned on SQuAD 2.0 or the like).

    As SQuAD 2.0 has it, the first token stands for "no answer"; yes and no are outside what such a model can say.

    Args:
        model: Gives start and end logits.
        tokenizer: Its fast tokenizer.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._length = min(
            int(tokenizer.model_max_length), int(getattr(model.config, "max_position_embeddings", 512)), 512
        )

    @classmethod
    def load(cls, source: str | Path) -> FullSpans:
        """Loads a folder or hub id, safetensors only, running none of its code.

        Raises:
            ResourceError: There is no such model here, or it has no question-answering head or fast tokenizer.
        """
        what = "an extractive question-answering model"
        named = read_config(source, what=what).architectures or []
        if not any(name.endswith("ForQuestionAnswering") for name in named):
            raise ResourceError(
                f"{source} is a {', '.join(named) or 'model of no stated kind'}; the reader needs a model "
                "whose config.json names a ...ForQuestionAnswering architecture."
            )
        model, tokenizer = read_pretrained(source, "AutoModelForQuestionAnswering", what=what)
        if not tokenizer.is_fast:
            raise ResourceError(
                f"The reader {source} has no fast tokenizer, so no character offsets; give another model."
            )
        return cls(model, tokenizer)

    def scores(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[WindowScores]]:
        """See `langgraph_evidence.models.reader.model.SpanModel`."""
        return [self._one(question, passages) for question, passages in asked]

    def _one(self, question: str, passages: Sequence[str]) -> list[WindowScores]:
        inputs = self._tokenizer(
            self._clipped(question),
            _SEPARATOR.join(passages),
            truncation="only_second",
            max_length=self._length,
            stride=self._length // 6,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets, inside = (
            inputs.pop("offset_mapping").tolist(),
            [inputs.sequence_ids(i) for i in range(len(inputs.input_ids))],
        )
        inputs.pop("overflow_to_sample_mapping")
        starts, ends = self._logits(dict(inputs))
        bounds = np.cumsum([0, *(len(passage) + len(_SEPARATOR) for passage in passages)]).tolist()
        return [
            _window(starts[i], ends[i], inside=inside[i], offsets=offsets[i], bounds=bounds)
            for i in range(len(offsets))
        ]

    def _clipped(self, question: str) -> str:
        encoded = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        room = self._length // 4
        return question if len(encoded) <= room else question[: encoded[room - 1][1]]

    def _logits(self, inputs: dict[str, torch.Tensor]) -> tuple[np.ndarray, np.ndarray]:
        parts = []
        with torch.inference_mode():
            for first in range(0, len(inputs["input_ids"]), _BATCH):
                output = self._model(
                    **{name: value[first : first + _BATCH].to(self._model.device) for name, value in inputs.items()}
                )
                parts.append((output.start_logits.float().cpu(), output.end_logits.float().cpu()))
        return torch.cat([start for start, _ in parts]).numpy(), torch.cat([end for _, end in parts]).numpy()


def _window(
    start: np.ndarray,
    end: np.ndarray,
    *,
    inside: Sequence[int | None],
    offsets: Sequence[Sequence[int]],
    bounds: Sequence[int],
) -> WindowScores:
    owners, spans = [], []
    for part, (left, right) in zip(inside, offsets, strict=True):
        passage = bisect.bisect_right(bounds, left) - 1 if part == 1 and right > left else -1
        owners.append(passage)
        spans.append((left - bounds[passage], right - bounds[passage]) if passage >= 0 else (0, 0))
    context = np.asarray(owners) >= 0
    null = float(start[0] + end[0])
    start, end = np.where(context, start, _OUTSIDE), np.where(context, end, _OUTSIDE)
    answer = 1.0 / (1.0 + np.exp(np.clip(null - float(start.max() + end.max()), -50, 50)))
    kind = np.asarray([answer, 0.0, 0.0, 1.0 - answer], dtype=np.float32)
    return WindowScores(start.astype(np.float32), end.astype(np.float32), kind, owners, spans)
