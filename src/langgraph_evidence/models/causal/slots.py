"""The keys and values of rows that share forward passes: rows of any length join and leave between two passes.

transformers' own caches take rows of one length and copy everything at each token. Here the rows end in one column, so
that a token is one write, and what lies left of a short row is masked; masks and positions stay transformers' own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KeyValues = list[torch.Tensor]
"""Keys and values of each layer in turn, each of heads x tokens x width."""

# Columns kept free to the right, so that rows are copied once in so many tokens.
_SPARE = 256
# Tokens of a row that are read in one pass: bounds what attention and the vocabulary's scores take.
_CHUNK = 512


class SlotLayer(CacheLayerMixin):
    """One layer's keys and values: a row a slot, of which the columns from `start` to `end` are in use."""

    is_sliding = False

    def __init__(self) -> None:
        super().__init__()
        self.start = self.end = 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Takes shape and type from the first keys and values, of any number of dimensions before heads."""
        for name, states in (("keys", key_states), ("values", value_states)):
            setattr(self, name, states.new_zeros(0, states.shape[-3], 0, states.shape[-1]))
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Adds columns, one for each new token, to all rows."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        rows, _heads, count, _width = key_states.shape
        self.make_room(rows, left=self.end - self.start, right=count)
        self.keys[:rows, :, self.end : self.end + count] = key_states
        self.values[:rows, :, self.end : self.end + count] = value_states
        self.end += count
        return self.keys[:rows, :, self.start : self.end], self.values[:rows, :, self.start : self.end]

    def make_room(self, rows: int, *, left: int, right: int) -> None:
        """Moves to larger tensors where there are too few rows, or columns on either side of `end`."""
        slots, columns = self.keys.shape[0], self.keys.shape[2]
        if rows <= slots and left <= self.end and self.end + right <= columns:
            return
        live = self.end - self.start
        more = slots if rows <= slots else max(rows, 2 * slots)
        for name in ("keys", "values"):
            old = getattr(self, name)
            # Zeros and not whatever the memory held: a masked column counts nothing times what lies in it.
            new = old.new_zeros(more, old.shape[1], left + right + _SPARE, old.shape[3])
            new[:slots, :, left - live : left] = old[:, :, self.start : self.end]
            setattr(self, name, new)
        self.start, self.end = left - live, left

    def put(self, row: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Writes a row whose last token is in the last column."""
        first = self.end - keys.shape[-2]
        self.keys[row, :, first : self.end] = keys
        self.values[row, :, first : self.end] = values

    def move(self, source: int, target: int) -> None:
        """Copies one row over another."""
        for states in (self.keys, self.values):
            states[target, :, self.start : self.end] = states[source, :, self.start : self.end]

    def get_seq_length(self) -> int:
        """Columns in use."""
        return self.end - self.start

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Columns after the next tokens, and the first of them."""
        return self.end - self.start + query_length, 0

    def get_max_length(self) -> int:
        """There is none."""
        return -1


class Rows:
    """Token sequences and what the network has computed of them.

    Args:
        model: The network.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache = Cache(layer_class_to_replicate=SlotLayer)
        self.lengths: list[int] = []

    def join(self, rows: Sequence[KeyValues], *, ahead: int = 1) -> None:
        """Adds rows at the end; one of no tokens is an empty list.

        Args:
            rows: Keys and values of each.
            ahead: How many tokens will be read next.
        """
        lengths = [states[0].shape[-2] if states else 0 for states in rows]
        longest = max([*self.lengths, *lengths])
        first = len(self.lengths)
        self.lengths += lengths
        known = next((states for states in rows if states), [])
        while len(self._cache.layers) < len(known) // 2:
            self._cache.layers.append(SlotLayer())
        for index, layer in enumerate(self._cache.layers):
            if not layer.is_initialized:
                layer.lazy_initialization(known[2 * index], known[2 * index + 1])
            layer.make_room(len(self.lengths), left=longest, right=ahead)
            layer.start = layer.end - longest
            for row, states in enumerate(rows, start=first):
                if states:
                    layer.put(row, states[2 * index], states[2 * index + 1])

    def leave(self, row: int) -> None:
        """Takes a row out; the last one takes its place."""
        last = len(self.lengths) - 1
        self.lengths[row] = self.lengths[last]
        self.lengths.pop()
        for layer in self._cache.layers:
            if row != last:
                layer.move(last, row)
            layer.start = layer.end - max(self.lengths, default=0)

    def states(self, row: int, first: int, last: int) -> KeyValues:
        """Keys and values of a row's tokens from `first` up to `last`, as views."""
        found = []
        for layer in self._cache.layers:
            begin = layer.end - self.lengths[row]
            found += [states[row, :, begin + first : begin + last] for states in (layer.keys, layer.values)]
        return found

    def read(self, tokens: Sequence[Sequence[int]]) -> torch.Tensor:
        """Reads tokens of every row; those of which fewer come than of others have to be new.

        Returns:
            The scores of what follows each row.
        """
        *_, last = self.scores(tokens, keep=1)
        return last[:, -1]

    def scores(self, tokens: Sequence[Sequence[int]], *, keep: int = 0) -> Iterator[torch.Tensor]:
        """Reads tokens of every row, some at a time; gives scores after each one, or after the last `keep`."""
        count = max(map(len, tokens))
        ids = torch.tensor([[0] * (count - len(row)) + list(row) for row in tokens], device=self._model.device)
        after = torch.tensor([length + len(row) for length, row in zip(self.lengths, tokens, strict=True)])
        for first in range(0, count, _CHUNK):
            part = ids[:, first : first + _CHUNK]
            yield self._forward(part, after - count + first + part.shape[1], keep)
        self.lengths = after.tolist()

    def _forward(self, ids: torch.Tensor, lengths: torch.Tensor, keep: int) -> torch.Tensor:
        columns = self._cache.get_seq_length() + ids.shape[1]
        from_right = torch.arange(columns - 1, -1, -1)
        positions = lengths[:, None] - 1 - from_right[-ids.shape[1] :]
        output = self._model(
            input_ids=ids,
            attention_mask=(from_right < lengths[:, None]).to(ids.device),
            position_ids=positions.clamp(min=0).to(ids.device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        scores: torch.Tensor = output.logits
        return scores
