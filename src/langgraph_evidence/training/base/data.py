"""Reading training data: JSON Lines, gzipped or not, hashed, and split by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base import sha256_of
from langgraph_evidence.retrieval.reading import json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Row = dict[str, Any]
"""A row of a data file."""
TRAIN_FOLDS = frozenset(range(7))
TUNE_FOLD = 7
HELD_OUT_FOLDS = frozenset({7, 8, 9})
ANY_FOLD = frozenset(range(10))


class DataFolder:
    """A folder of data files; it remembers the hash of each file that was read.

    Args:
        root: The folder.

    Raises:
        ResourceError: There is no such folder.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise ResourceError(f"There is no data folder {str(root)!r}. Give the folder that holds the data sets.")
        self.root = root
        self.hashes: dict[str, str] = {}

    def find(self, name: str) -> Path | None:
        """The file of that name, gzipped or not; None where there is none."""
        return next((path for path in (self.root / f"{name}.gz", self.root / name) if path.is_file()), None)

    def rows(self, name: str, folds: Iterable[int] | None = None) -> list[Row]:
        """Rows of `name` (`multihop/hotpotqa_dev.jsonl`, with or without .gz) in the folds, or all of them.

        Raises:
            ResourceError: The file is missing or damaged.
        """
        path = self.find(name)
        if path is None:
            raise ResourceError(f"The data folder {self.root} lacks {name} (or {name}.gz).")
        self.hashes[name] = sha256_of(path)
        wanted = None if folds is None else frozenset(folds)
        rows: list[Any] = [row for _, row in json_lines(path)]
        return [row for row in rows if wanted is None or row.get("fold") in wanted]
