"""How likely a text is to a causal language model, local or served: what rewards and scores are made of."""

from __future__ import annotations

from typing import Protocol


class TokenLikelihood(Protocol):
    """A causal language model that tells how likely a text is, token by token."""

    def log_probabilities(self, text: str) -> list[tuple[int, float]]:
        """Each token's first character and its log-probability given the text before it, but for the first token."""
        ...
