"""Functions of single rows, applied to many rows in tiles of few sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

_LARGEST, _SMALLEST = 1024, 16


def in_tiles(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """What a function of single rows makes of x, on a CPU without gradients tile by tile.

    oneDNN, which multiplies in bfloat16 on a CPU, keeps a kernel and its scratch space for every number of rows that it
    ever met, up to 1,024 of them: half a gigabyte after some hundred batches. Rows are cheap to cut and to add, and of
    seven sizes of tiles it keeps little. What lies between two maps of the function is no larger than a tile, too.

    Args:
        function: Gives for rows, shape (rows, width), as many rows; none depends on another.
        x: Shape (..., width).

    Returns:
        Shape (..., what the function makes of a row).
    """
    if x.device.type != "cpu" or torch.is_grad_enabled():
        return function(x)
    rows = x.reshape(-1, x.shape[-1])
    made = [function(tile)[:count] for tile, count in _tiles(rows)]
    joined = made[0] if len(made) == 1 else torch.cat(made)
    return joined.view(*x.shape[:-1], -1)


def _tiles(rows: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Tiles, and how many rows of each count: all but the last one's, which is filled up with zeros."""
    start, size = 0, _LARGEST
    while start < len(rows):
        left = len(rows) - start
        if left < _SMALLEST:
            yield F.pad(rows[start:], (0, 0, 0, _SMALLEST - left)), left
            return
        while size > left:
            size //= 2
        yield rows[start : start + size], size
        start += size
