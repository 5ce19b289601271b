"""What the entailment head learns from, and how large its adapter is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class EntailmentOptions:
    """What is learnt from, and how large the adapter is.

    Args:
        layers: How many of the top layers are its own.
        frozen: How many of these, from the lowest, are left as they start.
        rank: Width of low-rank additions, for an adapter without layers of its own.
        pairs: How many are drawn.
        evenness: A source's share is its number of pairs to this power: 1 by size, 0 all alike.
        derived: Share of derived pairs, where a source has them.
        fine: Weight of the 3-way loss where the label tells neutral from contradiction.
        start: An adapter to go on from, see `start_from`.
    """

    layers: int = 6
    frozen: int = 2
    rank: int = 0
    pairs: int = 60_000
    evenness: float = 0.6
    derived: float = 0.3
    fine: float = 0.4
    start: Path | None = None
