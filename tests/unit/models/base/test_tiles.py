from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from langgraph_evidence.models.base.tiles import in_tiles


@pytest.mark.parametrize("count", [1, 15, 16, 17, 47, 1023, 1024, 1025, 2100])
def test_rows_become_what_they_become_together(count: int) -> None:
    x = torch.arange(count * 3, dtype=torch.float32).view(count, 3)
    with torch.inference_mode():
        assert torch.equal(in_tiles(lambda rows: rows[:, :2] * 2 + 1, x), x[:, :2] * 2 + 1)


def test_many_numbers_of_rows_make_few_sizes_of_tiles() -> None:
    sizes = set()

    def noted(rows: Any) -> Any:
        sizes.add(len(rows))
        return rows

    with torch.inference_mode():
        for count in range(1, 3000, 7):
            assert in_tiles(noted, torch.zeros(count, 2)).shape == (count, 2)
    assert sizes == {16, 32, 64, 128, 256, 512, 1024}


def test_leading_axes_are_kept() -> None:
    with torch.inference_mode():
        assert in_tiles(lambda rows: rows[:, :1], torch.ones(5, 7, 3)).shape == (5, 7, 1)


def test_with_gradients_all_rows_go_together() -> None:
    sizes = []

    def noted(rows: Any) -> Any:
        sizes.append(tuple(rows.shape))
        return rows

    in_tiles(noted, torch.zeros(2, 1500, 3))
    assert sizes == [(2, 1500, 3)]


def test_loading_models_imports_no_compiler() -> None:
    code = (
        "import sys; from langgraph_evidence.models import default_entailment, default_reader\n"
        "default_reader().read('Who?', ['Ann: Ann.']); default_entailment().probabilities([('A cat.', 'A cat.')])\n"
        "print([name for name in ('torch._dynamo', 'sympy', 'transformers', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
