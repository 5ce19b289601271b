"""Batches filled by token budget, and a bounded cache keyed by content."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray


def token_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indexes grouped so that no group, padded to its longest input, holds more than `budget` tokens; longest first."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda item: -lengths[item]):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


class RowCache:
    """Rows of results by the content they were computed from: bounded, least recently used out first, thread-safe.

    Args:
        limit: How many rows are kept; 0 keeps none.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """The row, or None."""
        with self._lock:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
            return row

    def put(self, key: bytes, row: NDArray[np.float32]) -> None:
        """Keeps a row, dropping the one unused for longest."""
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            while len(self._rows) > self._limit:
                self._rows.popitem(last=False)

    def rows(
        self, keys: Sequence[bytes], compute: Callable[[list[int]], Iterable[NDArray[np.float32]]]
    ) -> list[NDArray[np.float32]]:
        """One row a key; `compute` is asked once for the indexes whose keys are new, each distinct key once."""
        known = {key: row for key in dict.fromkeys(keys) if (row := self.get(key)) is not None}
        missing = {key: index for index, key in reversed(list(enumerate(keys))) if key not in known}
        if missing:
            order = list(missing)
            for key, row in zip(order, compute([missing[key] for key in order]), strict=True):
                known[key] = row
                self.put(key, row)
        return [known[key] for key in keys]

    def pairs(
        self,
        pairs: Sequence[tuple[str, str]],
        compute: Callable[[list[tuple[str, str]]], Iterable[NDArray[np.float32]]],
        *,
        width: int,
    ) -> NDArray[np.float32]:
        """As `rows`, for pairs of texts: (pairs, width); `compute` is given the new pairs."""

        def missing(indexes: list[int]) -> Iterable[NDArray[np.float32]]:
            return compute([pairs[index] for index in indexes])

        rows = self.rows([content_key(*pair) for pair in pairs], missing)
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def content_key(*parts: str) -> bytes:
    """A key for one or more texts; the lengths keep ("ab", "c") and ("a", "bc") apart."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
