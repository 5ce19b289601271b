"""Files that are either whole or not there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_aside(path: Path, data: bytes) -> None:
    """Writes to a neighbour, then renames: a reader, or a run after a kill, sees the old file or the new one."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
