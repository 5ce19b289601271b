"""Beginnings that were computed before: a tree of token runs with their keys and values, within a limit of bytes.

Texts with the same beginning share its keys and values, as the children of a search tree share their parent's: each
pays for its own tokens alone, in time and in memory. What was not used for longest goes first, leaves before branches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from langgraph_evidence.models.causal.slots import KeyValues


@dataclass(eq=False)
class _Node:
    tokens: list[int]
    states: KeyValues
    parent: _Node | None
    used: int = 0
    children: dict[int, _Node] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(states.nbytes for states in self.states)


class PrefixCache:
    """Keys and values by the tokens they belong to; not thread-safe.

    Args:
        limit: The most bytes that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self._clock = count(1)
        self._roots: dict[str, _Node] = {}

    def known(self, network: str, tokens: Sequence[int]) -> int:
        """How many of the first tokens are known.

        Args:
            network: Which network computed them: the base, or an adapter.
            tokens: Of the text.
        """
        return sum(length for _, length in self._path(network, tokens))

    def find(self, network: str, tokens: Sequence[int]) -> KeyValues:
        """Keys and values of the first tokens that are known; empty where none is."""
        pieces = [[states[:, :length] for states in node.states] for node, length in self._path(network, tokens)]
        return [torch.cat(parts, dim=-2) for parts in zip(*pieces, strict=True)]

    def keep(self, network: str, tokens: Sequence[int], states: Callable[[int, int], KeyValues]) -> None:
        """Remembers a text.

        Args:
            network: As in `known`.
            tokens: Of the text.
            states: From a first and a last token to the keys and values between them, asked for what is new alone.
        """
        node, place = self._root(network), 0
        for part, length in list(self._path(network, tokens)):
            node, place = (part if length == len(part.tokens) else self._split(part, length)), place + length
        rest = list(tokens[place:])
        if rest:
            new = [part.clone() for part in states(place, len(tokens))]
            if sum(part.nbytes for part in new) <= self.limit:
                node.children[rest[0]] = _Node(rest, new, node, next(self._clock))
                self.bytes += node.children[rest[0]].bytes
                self._make_room()

    def _root(self, network: str) -> _Node:
        return self._roots.setdefault(network, _Node([], [], None))

    def _path(self, network: str, tokens: Sequence[int]) -> Iterator[tuple[_Node, int]]:
        """The runs along a text, with how much of each is the text's: all of it, but for the last."""
        now, node, place = next(self._clock), self._root(network), 0
        while place < len(tokens) and (child := node.children.get(tokens[place])):
            length = shared(child.tokens, tokens[place : place + len(child.tokens)])
            child.used = now
            yield child, length
            if length < len(child.tokens):
                return
            node, place = child, place + length

    def _split(self, node: _Node, length: int) -> _Node:
        """Cuts a run in two; gives the first part."""
        parent = node.parent or _Node([], [], None)
        # Copies, since a view would hold all of what it looks at.
        first = _Node(node.tokens[:length], [part[:, :length].clone() for part in node.states], parent, node.used)
        node.tokens, node.states = node.tokens[length:], [part[:, length:].clone() for part in node.states]
        node.parent, first.children[node.tokens[0]] = first, node
        parent.children[first.tokens[0]] = first
        return first

    def _make_room(self) -> None:
        while self.bytes > self.limit:
            oldest = min(self._leaves(), key=lambda leaf: leaf.used)
            self.bytes -= oldest.bytes
            if oldest.parent is not None:
                del oldest.parent.children[oldest.tokens[0]]

    def _leaves(self) -> Iterator[_Node]:
        open_nodes = [child for root in self._roots.values() for child in root.children.values()]
        while open_nodes:
            node = open_nodes.pop()
            open_nodes += node.children.values()
            if not node.children:
                yield node


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts begin with in common."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length
