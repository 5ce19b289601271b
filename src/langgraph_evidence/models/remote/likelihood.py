"""How likely a text is, token by token, by a causal language model behind an OpenAI-compatible server."""

from __future__ import annotations

import math

from langgraph_evidence.errors import ModelError
from langgraph_evidence.models.remote.client import post_json

_PROBE = "The capital of France is Paris."


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
        self.log_probabilities(_PROBE)

    def log_probabilities(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given the text before it, but for the first token."""
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
