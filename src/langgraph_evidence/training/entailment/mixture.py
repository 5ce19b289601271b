"""Which pairs a training sees, how often, and with what weight."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING

from langgraph_evidence.training.entailment.data import CHANGED, ORDERS
from langgraph_evidence.training.entailment.questions import ANSWERS, QUESTIONS
from langgraph_evidence.training.entailment.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.training.entailment.options import EntailmentOptions
    from langgraph_evidence.training.entailment.pairs import NliPair

SHARES = {ANSWERS: 0.27, QUESTIONS: 0.08, CHANGED: 0.17, ROLES: 0.16, ORDERS: 0.08, "": 0.24}
"""Of each family of sources, by what its name ends with; the last is the data sets of claims."""


def balance(pairs: Sequence[NliPair]) -> list[float]:
    """A weight a pair, so that entailed and other pairs of a source, natural and derived apart, weigh the same."""
    counts = Counter((pair.source, pair.derived, pair.entailed) for pair in pairs)
    weights = []
    for pair in pairs:
        same = counts[pair.source, pair.derived, pair.entailed]
        both = same + counts[pair.source, pair.derived, not pair.entailed]
        weights.append(0.5 / min(max(same / both, 0.05), 0.95))
    return weights


def mixture(pairs: Sequence[NliPair], options: EntailmentOptions, rng: random.Random) -> list[int]:
    """Indexes of the pairs to learn from, in order: the source by its share, then the next pair of a shuffled round."""
    pools: dict[tuple[str, bool], list[int]] = {}
    for index, pair in enumerate(pairs):
        pools.setdefault((pair.source, pair.derived), []).append(index)
    sources = [source for source, derived in pools if not derived]
    shares = _shares({source: len(pools[source, False]) ** options.evenness for source in sources})
    rounds = {key: _rounds(pool, rng) for key, pool in pools.items()}
    drawn = []
    for source in rng.choices(sources, shares, k=options.pairs):
        derived = (source, True) in pools and rng.random() < options.derived
        drawn.append(next(rounds[source, derived]))
    return drawn


def _shares(sizes: dict[str, float]) -> list[float]:
    """A source's part of its family's share."""
    families = {source: next(end for end in SHARES if source.endswith(end)) for source in sizes}
    totals = dict.fromkeys(SHARES, 0.0)
    for source, size in sizes.items():
        totals[families[source]] += size
    return [SHARES[families[source]] * size / totals[families[source]] for source, size in sizes.items()]


def _rounds(pool: Sequence[int], rng: random.Random) -> itertools.chain[int]:
    return itertools.chain.from_iterable(rng.sample(pool, len(pool)) for _ in itertools.count())


def limited(pairs: Sequence[NliPair], count: int, seed: int) -> list[NliPair]:
    """At most `count` entailed pairs and as many others of each source, drawn at random."""
    seen: Counter[tuple[str, bool]] = Counter()
    kept = []
    for pair in random.Random(seed).sample(pairs, len(pairs)):
        seen[pair.source, pair.entailed] += 1
        if seen[pair.source, pair.entailed] <= count:
            kept.append(pair)
    return kept
