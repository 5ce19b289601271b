"""What a reader's training starts from: an untrained adapter, or a trained one, its low-rank additions made layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import nn

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base import Adapter, AdapterSpec, load_adapter
from langgraph_evidence.models.reader import HEAD, KINDS, MAX_TOKENS, new_head

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.models.base.bert import Lora, OwnLayers


def new_adapter(
    encoder: Encoder, rank: int = 0, *, layers: int = 0, max_tokens: int = MAX_TOKENS, frozen_layers: int = 0
) -> Adapter:
    """An untrained reader.

    Args:
        encoder: The base.
        rank: Width of the low-rank additions; 0 for none.
        layers: How many of the top layers are the reader's own; 0 for none.
        max_tokens: Tokens of a window.
        frozen_layers: Lowest layers without additions, which makes a step cheaper.
    """
    spec = AdapterSpec(HEAD, encoder.sha256, rank, KINDS, max_tokens, layers=layers)
    adapter = Adapter(encoder, spec, new_head(encoder))
    for name, parameter in adapter.named_parameters():
        if name.startswith("lora."):
            layer = int(name.split(".")[2].split("_")[0])
            parameter.requires_grad_(layer >= frozen_layers)
    return adapter


def started_adapter(encoder: Encoder, adapter: Adapter, start: Path) -> Adapter:
    """The untrained `adapter` with the parameters of the trained one at `start`.

    Low-rank additions go into layers of its own: `W + B A scale` (Hu et al. 2021, section 4.1).

    Raises:
        InvalidInput: What the trained one changes does not fit: it changes layers that `adapter` leaves as they are.
    """
    known = load_adapter(encoder, start, HEAD, labels=KINDS, build_head=lambda _: new_head(encoder))
    if adapter.own is None or known.lora is None:
        adapter.load_state_dict({name: value.float() for name, value in known.state_dict().items()})
        return adapter
    _merge(known.lora.float(), adapter.own, start)
    adapter.head.load_state_dict(known.head.state_dict())
    return adapter


def _merge(lora: Lora, own: OwnLayers, start: Path) -> None:
    for place, down in lora.a.items():
        layer, linear = place.split("_")
        added = lora.b[place] @ down * lora.scale
        mine = own.at(int(layer))
        if mine is not None:
            weight = cast("nn.Linear", cast("nn.ModuleDict", mine.linears)[linear]).weight
            with torch.no_grad():
                weight += added
        elif bool(added.any()):
            raise InvalidInput(f"{start} changes layer {layer}, below the {len(own.layers)} own layers; give it more.")
