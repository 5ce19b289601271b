"""Where models compute and in which type: the words that every loader takes."""

from __future__ import annotations

from typing import Literal

import torch

from langgraph_evidence.errors import InvalidInput

Precision = Literal["auto", "fp32", "bf16", "fp16"]
"""Type of the weights; `auto` leaves the choice to the model's loader."""

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
