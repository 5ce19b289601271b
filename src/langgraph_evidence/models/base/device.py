"""Where models compute and in which type: the words that every loader takes."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

import torch

from langgraph_evidence.errors import InvalidInput

Precision = Literal["auto", "fp32", "bf16", "fp16"]
"""Type of the weights; `auto` leaves the choice to the model's loader."""

# Where Linux says what share of the cores a container has.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def pick_device(name: str) -> torch.device:
    """The device of that name; `auto` takes a GPU where there is one.

    Raises:
        InvalidInput: There is no such device here.
    """
    usable = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if usable["cuda"] else "cpu"
    kind = name.partition(":")[0]
    if kind not in usable:
        raise InvalidInput(
            f"The device {name!r} is not supported; give 'auto', 'cpu', 'cuda', 'cuda:<index>' or 'mps'."
        )
    if not usable[kind]:
        raise InvalidInput(f"The device {name!r} was asked for and this torch sees none; give 'cpu' or 'auto'.")
    return torch.device(name)


def check_precision(name: str) -> None:
    """Refuses a word that names no precision.

    Raises:
        InvalidInput: It is none of `Precision`.
    """
    if name != "auto" and name not in DTYPES:
        raise InvalidInput(f"The precision {name!r} is not supported; give 'auto' or one of {', '.join(DTYPES)}.")


def fastest_precision(device: torch.device) -> Literal["fp32", "bf16"]:
    """bf16 where the device multiplies in it, else fp32."""
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    return "bf16" if device.type == "cpu" and torch.cpu.get_capabilities().get("avx512_bf16") else "fp32"


@cache
def measured_precision(kind: str) -> Literal["fp32", "bf16"]:
    """The type in which this machine multiplies faster what a step of writing multiplies; measured once a process.

    A processor without instructions of its own for bf16 is many times slower in it, and is not asked. One that has
    them need not be faster: at few rows the reading of the weights decides.

    Args:
        kind: Of device: cpu, cuda or mps.
    """
    if fastest_precision(torch.device(kind)) == "fp32" or kind != "cpu":
        return fastest_precision(torch.device(kind))
    seconds = {name: _seconds(DTYPES[name]) for name in ("fp32", "bf16")}
    return "bf16" if seconds["bf16"] < seconds["fp32"] else "fp32"


def _seconds(dtype: torch.dtype) -> float:
    """The best of some products of 16 rows with a layer's weights; a busy machine makes some of them slow."""
    rows, weights = torch.ones(16, 1024, dtype=dtype), torch.ones(4096, 1024, dtype=dtype)
    found = []
    for _ in range(8):
        begun = time.perf_counter()
        torch.nn.functional.linear(rows, weights)
        found.append(time.perf_counter() - begun)
    return min(found)


@cache
def use_own_cores() -> None:
    """Has torch use no more threads than this process has cores: more of them only wait for each other.

    torch counts the machine's cores; a container or an affinity may leave fewer. A lower number that was set stays.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = _QUOTA.read_text("ascii").split()
        cores = min(cores, max(1, int(quota) // int(period)))
    if cores < torch.get_num_threads():
        torch.set_num_threads(cores)
