"""Files that grow by a line at a time and survive a kill: what was written is whole, and what is half is cut off."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def append_line(path: Path, row: Any) -> None:
    """Writes one JSON value as a line of its own, and flushes it to the disk."""
    with path.open("ab") as file:
        # ASCII: a model's reply may hold half of a surrogate pair, which is no UTF-8.
        file.write(json.dumps(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, none where there is no file; a half-written last one, which a kill leaves, is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole].splitlines()
