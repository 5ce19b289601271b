"""How the next token is chosen: temperature, nucleus, seeds, and which tokens a reply may hold at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

Allowed = Callable[[Sequence[int]], "Collection[int] | None"]
"""From the tokens of a reply so far to those that may come next; None for any, nothing at all to end the reply."""


class SampledToken(NamedTuple):
    """One generated token; log-probabilities are natural, at temperature one, among all tokens, allowed or not."""

    id: int
    logprob: float
    top: list[tuple[int, float]]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How replies are drawn.

    Args:
        seeds: One for each reply.
        temperature: 0 takes the likeliest token.
        top_p: The share of probability that is sampled from.
        top: How many likely tokens are listed beside each one.
        allowed: Which tokens may come next; without it any.
    """

    seeds: Sequence[int]
    temperature: float = 0.0
    top_p: float = 1.0
    top: int = 0
    allowed: Allowed | None = None


class Drawing:
    """The replies of one prompt while they are drawn.

    Args:
        sampling: How.
        ends: The tokens that end a reply.
        device: Where the network computes.
    """

    def __init__(self, sampling: Sampling, ends: Collection[int], device: torch.device) -> None:
        self._sampling, self._ends = sampling, ends
        self._rngs = [torch.Generator(device).manual_seed(seed) for seed in sampling.seeds]
        self._replies: list[list[int]] = [[] for _ in sampling.seeds]
        self._ended = [False] * len(sampling.seeds)

    @property
    def done(self) -> bool:
        """Whether all replies have ended."""
        return all(self._ended)

    def choose(self, scores: torch.Tensor) -> torch.Tensor:
        """One token id a row of log-probabilities: the likeliest, or one of the fewest that hold `top_p`."""
        scores = self._masked(scores)
        if self._sampling.temperature <= 0:
            return scores.argmax(dim=-1)
        shares = torch.softmax(scores / self._sampling.temperature, dim=-1)
        if self._sampling.top_p < 1:
            ordered, order = shares.sort(dim=-1, descending=True)
            ordered[ordered.cumsum(dim=-1) - ordered >= self._sampling.top_p] = 0
            shares = torch.zeros_like(shares).scatter(-1, order, ordered)
        rows = [torch.multinomial(row, 1, generator=rng) for row, rng in zip(shares, self._rngs, strict=True)]
        return torch.cat(rows)

    def _masked(self, scores: torch.Tensor) -> torch.Tensor:
        if self._sampling.allowed is None:
            return scores
        masked = torch.full_like(scores, float("-inf"))
        for row, reply in enumerate(self._replies):
            allowed = None if self._ended[row] else self._sampling.allowed(reply)
            # An ended reply's row is drawn and dropped; an empty one could not be drawn from.
            self._ended[row] = self._ended[row] or (allowed is not None and not allowed)
            places = list(allowed) if allowed else slice(None)
            masked[row, places] = scores[row, places]
        return masked

    def keep(self, tokens: Sequence[SampledToken]) -> list[SampledToken | None]:
        """Takes a token for each reply; gives None for those that have ended."""
        for row, token in enumerate(tokens):
            self._ended[row] = self._ended[row] or token.id in self._ends
            self._replies[row].append(token.id)
        return [None if ended else token for ended, token in zip(self._ended, tokens, strict=True)]


def read_tokens(scores: torch.Tensor, chosen: torch.Tensor, top: int) -> list[SampledToken]:
    """The chosen token of each row, with its log-probability and the likeliest ones beside it."""
    own = scores.gather(-1, chosen[:, None])[:, 0].tolist()
    best = scores.topk(min(top, scores.shape[-1]), dim=-1) if top else None
    tokens = []
    for row, (token, logprob) in enumerate(zip(chosen.tolist(), own, strict=True)):
        pairs = [] if best is None else list(zip(best.indices[row].tolist(), best.values[row].tolist(), strict=True))
        tokens.append(SampledToken(token, logprob, pairs))
    return tokens
