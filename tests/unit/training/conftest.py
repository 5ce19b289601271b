"""Toy data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toy_training_data import written


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    return written(tmp_path / "data")
