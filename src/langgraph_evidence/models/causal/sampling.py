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
        ends: Tokens that end a reply, beside the model's own.
    """

    seeds: Sequence[int]
    temperature: float = 0.0
    top_p: float = 1.0
    top: int = 0
    allowed: Allowed | None = None
    ends: Collection[int] = ()


class Row:
    """One reply while it is drawn.

    Args:
        sampling: How.
        number: Which of the seeds is its own.
        ends: The model's own tokens that end a reply.
    """

    def __init__(self, sampling: Sampling, number: int, ends: Collection[int]) -> None:
        self._sampling, self._number = sampling, number
        self._ends = {*ends, *sampling.ends}
        self._chance: torch.Generator | None = None
        self.tokens: list[int] = []
        self.ended = False

    def draw(self, scores: torch.Tensor, step: list[SampledToken | None]) -> None:
        """Draws the next token and puts it in its place of the step; the place is left where the reply has ended.

        Args:
            scores: Log-probabilities, 1 x vocabulary.
            step: A place for each of the request's replies.
        """
        allowed = None if self._sampling.allowed is None else self._sampling.allowed(self.tokens)
        if self.ended or (allowed is not None and not allowed):
            self.ended = True
            return
        chosen = self._choose(scores if allowed is None else _masked(scores, allowed))
        token = _read(scores, chosen, self._sampling.top)
        self.ended = token.id in self._ends
        if not self.ended:
            self.tokens.append(token.id)
            step[self._number] = token

    def _choose(self, scores: torch.Tensor) -> torch.Tensor:
        """The likeliest token, or one of the fewest that hold `top_p`."""
        if self._sampling.temperature <= 0:
            return scores.argmax(dim=-1)
        shares = torch.softmax(scores / self._sampling.temperature, dim=-1)
        if self._sampling.top_p < 1:
            ordered, order = shares.sort(dim=-1, descending=True)
            ordered[ordered.cumsum(dim=-1) - ordered >= self._sampling.top_p] = 0
            shares = torch.zeros_like(shares).scatter(-1, order, ordered)
        if self._chance is None:
            self._chance = torch.Generator(scores.device).manual_seed(self._sampling.seeds[self._number])
        return torch.multinomial(shares, 1, generator=self._chance)[:, 0]


def _masked(scores: torch.Tensor, allowed: Collection[int]) -> torch.Tensor:
    masked = torch.full_like(scores, float("-inf"))
    places = list(allowed)
    masked[:, places] = scores[:, places]
    return masked


def _read(scores: torch.Tensor, chosen: torch.Tensor, top: int) -> SampledToken:
    """The chosen token, with its log-probability and the likeliest ones beside it."""
    token = int(chosen)
    best = scores[0].topk(min(top, scores.shape[-1])) if top else None
    pairs = [] if best is None else list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
    return SampledToken(token, float(scores[0, token]), pairs)
