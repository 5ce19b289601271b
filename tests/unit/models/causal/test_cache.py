"""Kept beginnings: what is found is what was kept, each token once, within the limit, the longest unused gone first."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.models.causal.cache import PrefixCache, shared

TOKEN = 2 * 4  # bytes of one token in `states`: two tensors of one float


def states(tokens: Any, asked: list[Any] | None = None) -> Any:
    """Stands for keys and values: the tokens themselves and their negatives."""

    def read(first: int, last: int) -> list[torch.Tensor]:
        if asked is not None:
            asked.append((first, last))
        own = torch.tensor(tokens[first:last], dtype=torch.float32)[None, :, None]
        return [own, -own]

    return read


def found(cache: PrefixCache, tokens: Any, network: str = "") -> list[int]:
    kept = cache.find(network, tokens)
    if not kept:
        return []
    assert torch.equal(kept[0], -kept[1])
    return [int(value) for value in kept[0][0, :, 0]]


def test_a_text_pays_for_what_no_other_began_with() -> None:
    cache, asked = PrefixCache(10_000), list[Any]()
    cache.keep("", [1, 2, 3, 4], states([1, 2, 3, 4], asked))
    cache.keep("", [1, 2, 5], states([1, 2, 5], asked))
    cache.keep("", [1, 2, 3], states([1, 2, 3], asked))
    assert asked == [(0, 4), (2, 3)]
    assert cache.bytes == 5 * TOKEN
    assert cache.known("", [1, 2, 3, 9]) == 3
    assert found(cache, [1, 2, 5, 5]) == [1, 2, 5]
    assert found(cache, [2]) == []


def test_what_one_network_computed_is_not_anothers() -> None:
    cache = PrefixCache(10_000)
    cache.keep("adapter", [1, 2], states([1, 2]))
    assert cache.known("", [1, 2]) == 0
    assert found(cache, [1, 2], "adapter") == [1, 2]


def test_the_longest_unused_leaf_goes_first() -> None:
    cache = PrefixCache(6 * TOKEN)
    for text in ([1, 2, 3], [1, 2, 4], [1, 2, 5]):
        cache.keep("", text, states(text))
    cache.find("", [1, 2, 3])
    cache.keep("", [7, 8], states([7, 8]))
    assert [cache.known("", text) for text in ([1, 2, 3], [1, 2, 4], [1, 2, 5], [7, 8])] == [3, 2, 3, 2]
    cache.keep("", range(7), states(range(7)))
    assert cache.known("", range(7)) == 0
    assert cache.bytes == 6 * TOKEN


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), max_size=25), st.integers(0, 20))
def test_what_is_found_is_a_beginning_and_the_limit_is_held(texts: list[list[int]], limit: int) -> None:
    cache, free = PrefixCache(limit * TOKEN), PrefixCache(10**9)
    for text in texts:
        cache.keep("", text, states(text))
        free.keep("", text, states(text))
        assert cache.bytes <= cache.limit
        kept = found(cache, text)
        assert kept == text[: len(kept)]
        assert len(kept) == cache.known("", text)
        assert cache.bytes == sum(node.bytes for node in _nodes(cache))
    assert all(found(free, text) == text for text in texts)
    # Each beginning is kept once, however many texts have it.
    assert free.bytes == TOKEN * len({tuple(text[:size]) for text in texts for size in range(1, len(text) + 1)})


def _nodes(cache: PrefixCache) -> list[Any]:
    open_nodes: list[Any] = list(cache._roots.values())
    for node in open_nodes:
        open_nodes += node.children.values()
    return open_nodes


def test_shared_beginnings() -> None:
    assert shared([1, 2, 3], [1, 2, 4, 5]) == 2
    assert shared([1], [1, 2]) == 1
    assert shared([], [1]) == 0
