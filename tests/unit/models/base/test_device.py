"""Where to compute and in which type: measured where there is a choice, no more threads than cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from langgraph_evidence.models.base import device


@pytest.fixture(autouse=True)
def _unmeasured() -> Iterator[None]:
    threads = torch.get_num_threads()
    device.measured_precision.cache_clear()
    device.use_own_cores.cache_clear()
    yield
    device.measured_precision.cache_clear()
    device.use_own_cores.cache_clear()
    torch.set_num_threads(threads)


def test_a_processor_without_bf16_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    monkeypatch.setattr(device, "_seconds", lambda _: pytest.fail("it was measured"))
    assert device.measured_precision("cpu") == "fp32"


@pytest.mark.parametrize(("fp32", "bf16", "chosen"), [(2.0, 1.0, "bf16"), (1.0, 2.0, "fp32")])
def test_one_that_has_it_is_measured_once(
    monkeypatch: pytest.MonkeyPatch, fp32: float, bf16: float, chosen: str
) -> None:
    asked: list[torch.dtype] = []

    def seconds(dtype: torch.dtype) -> float:
        asked.append(dtype)
        return {torch.float32: fp32, torch.bfloat16: bf16}[dtype]

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    monkeypatch.setattr(device, "_seconds", seconds)
    assert [device.measured_precision("cpu") for _ in range(3)] == [chosen] * 3
    assert asked == [torch.float32, torch.bfloat16]


def test_the_measure_is_a_time() -> None:
    assert 0 < device._seconds(torch.float32) < 10


@pytest.mark.parametrize(
    ("quota", "before", "after"),
    [("150000 100000", 4, 1), ("300000 100000", 4, 3), ("max 100000", 4, 4), ("300000 100000", 2, 2)],
)
def test_a_containers_share_of_the_cores_is_all_that_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str, before: int, after: int
) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(device, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(device, "os", SimpleNamespace(cpu_count=lambda: 8))
    torch.set_num_threads(before)
    device.use_own_cores()
    assert torch.get_num_threads() == after
