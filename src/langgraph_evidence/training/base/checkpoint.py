"""A training run on disk: parameters, optimiser and course in one safetensors file, replaced as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from safetensors.torch import save

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base import read_tensors, write_aside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor, nn
    from torch.optim import Optimizer

_NAME = "checkpoint.safetensors"


def save_checkpoint(
    out: Path,
    model: nn.Module,
    optimizer: Optimizer,
    identity: Mapping[str, Any],
    *,
    progress: Mapping[str, Any],
    average: Mapping[str, Tensor],
    best: Mapping[str, Tensor],
) -> None:
    """Writes all that a resumed run needs.

    Args:
        out: The run's folder.
        model: Parameters now.
        optimizer: Its moments.
        identity: Options and data; a resumed run must have the same.
        progress: Where the run stands, JSON values.
        average: The parameters' moving average.
        best: The best parameters so far.
    """
    tensors = {f"now.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"average.{name}": tensor for name, tensor in average.items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for index, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in moments.items()}
    metadata = {"identity": json.dumps(identity, sort_keys=True), "progress": json.dumps(progress)}
    write_aside(
        out / _NAME, save({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, metadata)
    )


def load_checkpoint(
    out: Path, model: nn.Module, optimizer: Optimizer, identity: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Tensor], dict[str, Tensor]] | None:
    """Puts a run back; gives its progress, average and best parameters, or None where there is no checkpoint.

    Raises:
        ResourceError: The checkpoint is damaged, or of a run with other options or data.
    """
    path = out / _NAME
    if not path.is_file():
        return None
    tensors, metadata = read_tensors(path)
    if json.loads(metadata.get("identity", "null")) != json.loads(json.dumps(identity)):
        raise ResourceError(f"{path} is of a run with other options or data. Give another folder, or do not resume.")
    parts: dict[str, dict[str, Tensor]] = {"now": {}, "average": {}, "best": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        kind, _, rest = name.partition(".")
        parts[kind][rest] = tensor
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parts["optimizer"].items():
        index, _, moment = name.partition(".")
        state.setdefault(int(index), {})[moment] = tensor
    model.load_state_dict(parts["now"])
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    progress: dict[str, Any] = json.loads(metadata["progress"])
    return progress, parts["average"], parts["best"]
