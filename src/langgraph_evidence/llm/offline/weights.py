"""What the offline model has learned: which query to ask next, and when the evidence is enough."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "offline_planner"
SHIPPED = Path(__file__).parents[2] / "models" / "weights" / f"{NAME}.json"


@dataclass(frozen=True, eq=False)
class Tables:
    """One weight for each named feature; a feature without one counts nothing.

    Args:
        query: Of the features of `candidates`: the higher the sum, the sooner its query brings a missing passage.
        ready: Of the features of `coverage`: the log odds that no passage is missing.
    """

    query: Mapping[str, float]
    ready: Mapping[str, float]


def weigh(features: Mapping[str, float], table: Mapping[str, float]) -> float:
    """The sum of the features by their weights."""
    return sum(table.get(name, 0.0) * value for name, value in features.items())


def read_tables(path: Path) -> Tables:
    """Reads what `training.offline_planner` wrote.

    Raises:
        ResourceError: The file is missing, is no JSON, or lacks a table of finite numbers.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
        query, ready = found["tables"]["query"], found["tables"]["ready"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ResourceError(f"{path} holds no readable tables ({error!r}). Restore it or train it again.") from error
    if not _is_table(query) or not _is_table(ready):
        raise ResourceError(f"{path}: a table is an object of finite numbers. Restore it or train it again.")
    return Tables(query, ready)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(type(x) in {int, float} and math.isfinite(x) for x in value.values())


@cache
def shipped_tables() -> Tables:
    """The tables of this package.

    Raises:
        ResourceError: Their file is missing or damaged.
    """
    return read_tables(SHIPPED)
