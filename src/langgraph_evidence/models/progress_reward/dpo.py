"""The paper's generation progress reward: the log-ratio of a preference-aligned language model and its reference.

R_g = sum over k of w_k log(pi(y_k | x, y_<k) / pi_ref(y_k | x, y_<k)), w_k = 1 / (number of sentences); Think&Cite,
section 3.3. The two are causal language models: local ones, or served ones that return prompt log-probabilities.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError, ResourceError
from langgraph_evidence.models.base.batching import RowCache, content_key
from langgraph_evidence.models.remote.client import post_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_CACHED_ROWS = 20_000
_PROBE = "The capital of France is Paris."


class TokenLikelihood(Protocol):
    """A causal language model that tells how likely a text is, token by token."""

    def tokens(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character in the text and its log-probability, but for the first token, which has none."""
        ...


class LocalLikelihood:
    """A local causal language model.

    Args:
        model: The transformers model.
        tokenizer: Its fast tokenizer.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer, self._lock = model.eval(), tokenizer, threading.Lock()

    @classmethod
    def load(cls, source: str | Path, *, device: str = "auto") -> LocalLikelihood:
        """Loads a folder or hub id, from safetensors only and without remote code.

        Raises:
            MissingExtra: transformers is not installed.
            ResourceError: There is no such model.
        """
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingExtra("A local language model needs `pip install 'langgraph-evidence[local]'`.") from error
        name = str(source)
        try:
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, use_fast=True)
            model = AutoModelForCausalLM.from_pretrained(name, trust_remote_code=False, use_safetensors=True)
        except (OSError, ValueError, KeyError) as error:
            raise ResourceError(
                f"{name!r} is no causal language model with safetensors that can be loaded ({error}). "
                "Give a model folder or a hub id."
            ) from error
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(model.to(device), tokenizer)

    def tokens(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given the text before it."""
        batch = self._tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = batch.pop("offset_mapping")[0, 1:, 0].tolist()
        ids = batch["input_ids"].to(self._model.device)
        with self._lock, torch.inference_mode():
            logits = self._model(input_ids=ids).logits[0, :-1].float()
        found = torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0].tolist()
        return list(zip(offsets, found, strict=True))


class ServedLikelihood:
    """A model behind an OpenAI-compatible `/completions` that echoes the prompt with its log-probabilities (vLLM does).

    It is probed once, here.

    Args:
        base_url: The address up to `/v1`.
        model: The model's name there.
        key: A bearer token.
        seconds: How long a request may take.

    Raises:
        ModelError: The endpoint cannot be reached, or returns no prompt log-probabilities.
    """

    def __init__(self, base_url: str, model: str, *, key: str | None = None, seconds: float = 60.0) -> None:
        self._url, self._model = f"{base_url.rstrip('/')}/completions", model
        self._key, self._seconds = key, seconds
        self.tokens(_PROBE)

    def tokens(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given the text before it."""
        payload = {
            "model": self._model,
            "prompt": text,
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        reply = post_json(self._url, payload, key=self._key, seconds=self._seconds)
        try:
            logprobs = reply["choices"][0]["logprobs"]
            pairs = list(zip(logprobs["text_offset"], logprobs["token_logprobs"], strict=True))
            found = [(int(start), float(value)) for start, value in pairs[1:] if int(start) < len(text)]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(self._refusal(f"{type(error).__name__}: {error}")) from error
        if not found or not all(math.isfinite(value) and value <= 0 for _, value in found):
            raise ModelError(self._refusal("the prompt's tokens are not in the reply"))
        return found

    def _refusal(self, reason: str) -> str:
        return (
            f"{self._url} does not return prompt log-probabilities for {self._model!r} ({reason}). "
            "Serve the model with vLLM, or give a local path or hub id."
        )


class DpoProgressReward:
    """R_g of Think&Cite for any policy and reference.

    Args:
        policy: The preference-aligned model.
        reference: The model it was aligned from.
        template: The prompt before the answer, with `$question` in it.

    Raises:
        InvalidInput: The template has no `$question`.
    """

    def __init__(
        self,
        policy: TokenLikelihood,
        reference: TokenLikelihood,
        *,
        template: str = "Question: $question\nAnswer:",
    ) -> None:
        if "$question" not in template:
            raise InvalidInput(f"The template {template!r} has no $question in it.")
        self._models, self._template = (policy, reference), template
        self._caches = (RowCache(_CACHED_ROWS), RowCache(_CACHED_ROWS))

    @classmethod
    def load(cls, policy: str | Path, reference: str | Path, *, device: str = "auto") -> DpoProgressReward:
        """Loads both models from local paths or hub ids.

        Raises:
            ResourceError: One of them is not there.
        """
        return cls(LocalLikelihood.load(policy, device=device), LocalLikelihood.load(reference, device=device))

    def reward(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        """R_g of each partial answer, given as its sentences; not bounded.

        Raises:
            InvalidInput: An answer has no sentence.
            ModelError: A served model failed.
        """
        if not all(answers):
            raise InvalidInput("A partial answer without a sentence has no reward; give at least one sentence.")
        return [float(np.mean(self._log_ratios(question, sentences))) for sentences in answers]

    def _log_ratios(self, question: str, sentences: Sequence[str]) -> NDArray[np.float32]:
        prompt = self._template.replace("$question", question)
        text, starts = prompt, []
        for sentence in sentences:
            starts.append(len(text))
            text = f"{text} {sentence}"
        key, rows = content_key(text, str(starts)), []
        for model, cache in zip(self._models, self._caches, strict=True):
            row = cache.get(key)
            if row is None:
                row = _by_sentence(model, text, starts)
                cache.put(key, row)
            rows.append(row)
        return rows[0] - rows[1]


def _by_sentence(model: TokenLikelihood, text: str, starts: Sequence[int]) -> NDArray[np.float32]:
    """Log-probability of each sentence: of the tokens that begin in it or in the space before it."""
    totals = np.zeros(len(starts), dtype=np.float32)
    for start, value in model.tokens(text):
        place = int(np.searchsorted(np.asarray(starts), start, side="right")) - 1
        if place >= 0:
            totals[place] += value
    return totals
