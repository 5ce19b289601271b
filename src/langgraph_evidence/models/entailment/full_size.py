"""Entailment by a full-size model: any sequence classifier trained on NLI, or a T5 that speaks TRUE's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base import SequenceClassifier, read_config, read_pretrained, token_batches
from langgraph_evidence.models.entailment.features import packed_pairs
from langgraph_evidence.models.entailment.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from langgraph_evidence.models.base import PairScorer

_BATCH_TOKENS = 8192
_MAX_TOKENS = 512
_WHAT = "an entailment model"


def full_scorer(source: str, labels: Sequence[str] | None) -> PairScorer:
    """Loads the model of a folder or hub id, by what its config says it is.

    Raises:
        ResourceError: There is no such model, or it has no safetensors weights.
        InvalidInput: It is neither kind, or its labels are not understood.
    """
    config = read_config(source, what=_WHAT)
    if config.model_type in {"t5", "mt5"}:
        if labels is not None:
            raise InvalidInput("A T5 entailment model answers 1 or 0; labels= cannot be given for it.")
        return TrueT5(*read_pretrained(source, "AutoModelForSeq2SeqLM", what=_WHAT))
    names = list(labels) if labels is not None else _names(source, config)
    if len(names) != config.num_labels:
        raise InvalidInput(f"{source} has {config.num_labels} outputs; labels= names {len(names)}: {names}.")
    known = read_labels(names)
    return NliClassifier(SequenceClassifier.load(source), known)


def _names(source: str, config: Any) -> list[str]:
    named = {int(place): str(name) for place, name in (config.id2label or {}).items()}
    if sorted(named) != list(range(config.num_labels)):
        raise InvalidInput(f"{source} names the outputs {sorted(named)} of {config.num_labels}; give labels=.")
    return [named[place] for place in range(config.num_labels)]


class NliClassifier:
    """A sequence classifier with one output a label, over premises that fit it.

    Args:
        classifier: The model.
        labels: The label of each output.
    """

    def __init__(self, classifier: SequenceClassifier, labels: tuple[str, ...]) -> None:
        self.labels, self._classifier = labels, classifier

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The classifier's outputs, (pairs, labels)."""
        return self._classifier.logits(packed_pairs(pairs))


class TrueT5:
    """A T5 that was asked `premise: ... hypothesis: ...` and answers 1 or 0, as TRUE's does (Honovich et al. 2022).

    P(entailed) is the probability of 1 against 0 as the first token, so that it can be ranked and not only decided.

    Args:
        model: A transformers sequence-to-sequence model.
        tokenizer: Its tokenizer.
    """

    labels: tuple[str, ...] = ("entailment", "not_entailment")

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._answers = [self._answer(text) for text in ("1", "0")]

    def _answer(self, text: str) -> int:
        ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids or ids[-1] == self._tokenizer.unk_token_id:
            raise ResourceError(f"The T5's tokenizer has no token for {text!r}; it is no TRUE entailment model.")
        return int(ids[-1] if len(ids) == 1 else self._first_that_differs(text, ids))

    def _first_that_differs(self, text: str, ids: list[int]) -> int:
        other = self._tokenizer("0" if text == "1" else "1", add_special_tokens=False)["input_ids"]
        return next((own for own, theirs in zip(ids, other, strict=False) if own != theirs), ids[-1])

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The first token's logits of 1 and of 0, (pairs, 2)."""
        prompts = [f"premise: {premise} hypothesis: {text}" for premise, text in packed_pairs(pairs)]
        inputs = [self._tokenizer(prompt, truncation=True, max_length=_MAX_TOKENS) for prompt in prompts]
        rows = np.zeros((len(pairs), len(self.labels)), dtype=np.float32)
        for group in token_batches([len(item["input_ids"]) for item in inputs], _BATCH_TOKENS):
            batch = self._tokenizer.pad([inputs[index] for index in group], return_tensors="pt")
            with torch.inference_mode():
                rows[group] = self._first_token(batch.to(self._model.device)).cpu().numpy()
        return rows

    def _first_token(self, inputs: Any) -> Tensor:
        start = torch.full(
            (len(inputs["input_ids"]), 1), self._model.config.decoder_start_token_id, device=self._model.device
        )
        output = self._model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], decoder_input_ids=start
        )
        return torch.as_tensor(output.logits[:, -1, self._answers]).float()
