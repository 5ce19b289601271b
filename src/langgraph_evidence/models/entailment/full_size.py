"""Entailment by a full-size model: any sequence classifier trained on NLI, or a T5 that speaks TRUE's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.errors import InvalidInput, MissingExtra, ResourceError
from langgraph_evidence.models.entailment.features import pack_premise
from langgraph_evidence.models.entailment.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

_BATCH = 16
_MAX_TOKENS = 512
_PREMISE_WORDS = 330
_SAFE = {"trust_remote_code": False}
_SAFE_WEIGHTS = _SAFE | {"use_safetensors": True}


def full_scorer(source: str, labels: Sequence[str] | None) -> SequenceClassifier | TrueT5:
    """Loads the model of a folder or hub id, by what its config says it is.

    Raises:
        ResourceError: There is no such model, or it has no safetensors weights.
        InvalidInput: It is neither kind, or its labels are not understood.
    """
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra(
            "Full-size entailment models need transformers: pip install 'langgraph-evidence[local]'"
        ) from error
    config = _read(source, lambda: transformers.AutoConfig.from_pretrained(source, **_SAFE))
    if config.model_type in {"t5", "mt5"}:
        if labels is not None:
            raise InvalidInput("A T5 entailment model answers 1 or 0; labels= cannot be given for it.")
        model = _read(source, lambda: transformers.AutoModelForSeq2SeqLM.from_pretrained(source, **_SAFE_WEIGHTS))
        return TrueT5(model, _tokenizer(source))
    names = list(labels) if labels is not None else _names(source, config)
    if len(names) != config.num_labels:
        raise InvalidInput(f"{source} has {config.num_labels} outputs; labels= names {len(names)}: {names}.")
    known = read_labels(names)
    kind = transformers.AutoModelForSequenceClassification
    return SequenceClassifier(
        _read(source, lambda: kind.from_pretrained(source, **_SAFE_WEIGHTS)), _tokenizer(source), known
    )


def _names(source: str, config: Any) -> list[str]:
    named = {int(place): str(name) for place, name in (config.id2label or {}).items()}
    if sorted(named) != list(range(config.num_labels)):
        raise InvalidInput(f"{source} names the outputs {sorted(named)} of {config.num_labels}; give labels=.")
    return [named[place] for place in range(config.num_labels)]


def _tokenizer(source: str) -> Any:
    import transformers

    return _read(source, lambda: transformers.AutoTokenizer.from_pretrained(source, **_SAFE))


def _read(source: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ResourceError(
            f"{source} could not be loaded as an entailment model with safetensors weights ({error}). "
            "Give a model folder, a hub id, an adapter file or the URL of a server."
        ) from error


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SequenceClassifier:
    """An NLI model with one output a label.

    Args:
        model: A transformers sequence classifier.
        tokenizer: Its tokenizer.
        labels: The label of each output.
    """

    def __init__(self, model: Any, tokenizer: Any, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self._model, self._tokenizer = model.eval().to(_device()), tokenizer

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Label probabilities, (pairs, labels)."""
        packed = [(pack_premise(premise, text, max_words=_PREMISE_WORDS), text) for premise, text in pairs]
        rows = np.zeros((len(pairs), len(self.labels)), dtype=np.float32)
        for group in _batches([len(premise) + len(text) for premise, text in packed]):
            chosen = [packed[index] for index in group]
            with torch.inference_mode():
                rows[group] = self._logits(chosen).float().softmax(-1).cpu().numpy()
        return rows

    def _logits(self, pairs: list[tuple[str, str]]) -> Tensor:
        inputs = self._tokenizer(
            [premise for premise, _ in pairs],
            [text for _, text in pairs],
            padding=True,
            truncation="longest_first",
            max_length=_MAX_TOKENS,
            return_tensors="pt",
        )
        return torch.as_tensor(self._model(**inputs.to(self._model.device)).logits)


class TrueT5:
    """A T5 that was asked `premise: ... hypothesis: ...` and answers 1 or 0, as TRUE's does (Honovich et al. 2022).

    P(entailed) is the probability of 1 against 0 as the first token, so that it can be ranked and not only decided.

    Args:
        model: A transformers sequence-to-sequence model.
        tokenizer: Its tokenizer.
    """

    labels: tuple[str, ...] = ("entailment", "not_entailment")

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model.eval().to(_device()), tokenizer
        self._answers = [self._answer(text) for text in ("1", "0")]

    def _answer(self, text: str) -> int:
        ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids or ids[-1] == self._tokenizer.unk_token_id:
            raise ResourceError(f"The T5's tokenizer has no token for {text!r}; it is no TRUE entailment model.")
        return int(ids[-1] if len(ids) == 1 else self._first_that_differs(text, ids))

    def _first_that_differs(self, text: str, ids: list[int]) -> int:
        other = self._tokenizer("0" if text == "1" else "1", add_special_tokens=False)["input_ids"]
        return next((own for own, theirs in zip(ids, other, strict=False) if own != theirs), ids[-1])

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """P(1) and P(0), (pairs, 2)."""
        prompts = [
            f"premise: {pack_premise(premise, text, max_words=_PREMISE_WORDS)} hypothesis: {text}"
            for premise, text in pairs
        ]
        rows = np.zeros((len(pairs), 2), dtype=np.float32)
        for group in _batches([len(prompt) for prompt in prompts]):
            with torch.inference_mode():
                rows[group] = self._first_token([prompts[index] for index in group]).softmax(-1).cpu().numpy()
        return rows

    def _first_token(self, prompts: list[str]) -> Tensor:
        inputs = self._tokenizer(prompts, padding=True, truncation=True, max_length=_MAX_TOKENS, return_tensors="pt")
        start = torch.full((len(prompts), 1), self._model.config.decoder_start_token_id, device=self._model.device)
        output = self._model(
            input_ids=inputs["input_ids"].to(self._model.device),
            attention_mask=inputs["attention_mask"].to(self._model.device),
            decoder_input_ids=start,
        )
        return torch.as_tensor(output.logits[:, -1, self._answers]).float()
