"""Adapters of the shared encoder: what they change of it and a head, in one safetensors file with a card beside it.

An adapter adds low-rank maps to the base, or puts wholly trained layers in the place of its top ones, or leaves it be.

The shipped ones are `models/weights/<head>.safetensors` and `<head>.json`. A file is bound by hash to
the base it was trained on, and read completely before anything is built from it.
"""

from __future__ import annotations

import importlib.resources
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base.batching import RowCache
from langgraph_evidence.models.base.bert import Change, Lora, OwnLayers, to_precision
from langgraph_evidence.models.base.device import DTYPES
from langgraph_evidence.models.base.encoder import mean_pool
from langgraph_evidence.models.base.files import write_aside
from langgraph_evidence.models.base.weights import read_json, read_tensors, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from langgraph_evidence.models.base.encoder import Encoder
    from langgraph_evidence.models.base.tokenizer import Batch

_FORMAT = "langgraph-evidence adapter 1"


@dataclass(frozen=True)
class AdapterSpec:
    """What an adapter file says of itself.

    Args:
        head: Name of the task: `query_scorer`, `entailment`, ...
        base: sha256 of the base's weights.
        rank: Width of the low-rank additions; 0 for none.
        labels: Names of the head's outputs, in order.
        max_tokens: Inputs are cut to this many tokens.
        details: Anything else for the card: data hashes, licence, metrics.
        layers: How many of the top layers are the adapter's own; it then has no low-rank additions.
    """

    head: str
    base: str
    rank: int
    labels: tuple[str, ...]
    max_tokens: int
    details: dict[str, Any] = field(default_factory=dict)
    layers: int = 0


class PairHead(nn.Module):
    """Outputs for a text (pair) from [CLS] beside the mean of all tokens, which is what this base was trained to pool.

    Args:
        width: The base's dimension.
        outputs: How many values a pair gets.
    """

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(2 * width, outputs)

    def forward(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Raw outputs (logits), (batch, outputs)."""
        features = torch.cat([hidden[:, 0], mean_pool(hidden, batch.mask)], dim=-1)
        return torch.as_tensor(self.output(features))


class Adapter(nn.Module):
    """A change of one base and a head over it.

    Args:
        encoder: The base.
        spec: What the adapter is.
        head: Module from (hidden states, batch) to outputs; a `PairHead` with an output a label when not given.
        empty: Whether layers of its own are left on the meta device, for weights that are read from a file.
    """

    def __init__(
        self, encoder: Encoder, spec: AdapterSpec, head: nn.Module | None = None, *, empty: bool = False
    ) -> None:
        super().__init__()
        self.spec = spec
        self.lora = Lora(encoder.config, spec.rank).to(encoder.device) if spec.rank else None
        with torch.device("meta" if empty else encoder.device):
            self.own = OwnLayers(encoder.bert, spec.layers) if spec.layers else None
        self.head = (head or PairHead(encoder.dimension, len(spec.labels))).to(encoder.device)

    @property
    def change(self) -> Change | None:
        """What it does to the base."""
        return self.lora or self.own

    def outputs(self, encoder: Encoder, batch: Batch) -> Tensor:
        """The head's outputs for a batch, with gradients when they are on: what a training step calls."""
        return torch.as_tensor(self.head(encoder.hidden(batch, self.change), batch))

    def freeze(self, encoder: Encoder) -> Adapter:
        """Makes it ready to be used: no gradients, no dropout, its products of the base's type."""
        self.eval().requires_grad_(requires_grad=False)
        if self.lora is not None:
            self.lora.to(DTYPES[encoder.precision])
        if self.own is not None:
            to_precision(self.own, DTYPES[encoder.precision])
        return self


class PairModel:
    """A frozen adapter over pairs of texts: batched, cached by content, thread-safe.

    Args:
        encoder: The base.
        adapter: Its head gives a row of outputs a pair.
        cached: How many rows are kept.
    """

    def __init__(self, encoder: Encoder, adapter: Adapter, *, cached: int = 50_000) -> None:
        self.encoder, self.adapter = encoder, adapter.freeze(encoder)
        self._cache = RowCache(cached)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Raw outputs, (pairs, labels)."""
        return self._cache.pairs(pairs, self._compute, width=len(self.adapter.spec.labels))

    def _compute(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float32]]:
        inputs = self.encoder.tokenizer.pairs(pairs, self.adapter.spec.max_tokens)
        return self.encoder.run(inputs, self.adapter.head, self.adapter.change)


def shipped(head: str) -> Path:
    """The path of a head's shipped adapter, whether or not it is there."""
    return Path(str(importlib.resources.files("langgraph_evidence.models"))) / "weights" / f"{head}.safetensors"


def save_adapter(adapter: Adapter, path: Path) -> None:
    """Writes an adapter (float16) and its card, `<name>.json`, each aside and then renamed."""
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in adapter.state_dict().items()}
    metadata = {"format": _FORMAT, "adapter": json.dumps(asdict(adapter.spec), sort_keys=True)}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_aside(path, save(tensors, metadata=metadata))
    card = asdict(adapter.spec) | {"format": _FORMAT, "sha256": sha256_of(path), "bytes": path.stat().st_size}
    write_aside(path.with_suffix(".json"), json.dumps(card, indent=2, sort_keys=True).encode())


def load_adapter(
    encoder: Encoder,
    path: Path,
    head: str,
    *,
    labels: Sequence[str] | None = None,
    build_head: Callable[[AdapterSpec], nn.Module] | None = None,
) -> Adapter:
    """Reads an adapter file for this base, frozen.

    Args:
        encoder: The base.
        path: The safetensors file; its card, where there is one, must agree with it.
        head: The task it must be for.
        labels: The labels it must have, in order.
        build_head: Makes the head's module, where it is not a `PairHead`.

    Raises:
        ResourceError: The file is missing, damaged, altered, for another base or task, or has other labels.
    """
    tensors, metadata = read_tensors(path)
    spec = _read_spec(path, metadata)
    _check(path, spec, {"head": (spec.head, head), "base": (spec.base, encoder.sha256)})
    _check_room(path, spec, encoder)
    if labels is not None:
        _check(path, spec, {"label map": (list(spec.labels), list(labels))})
    card = path.with_suffix(".json")
    if card.is_file():
        _check(path, spec, {"sha256": (sha256_of(path), read_json(card).get("sha256"))})
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
        raise ResourceError(f"The adapter {path} holds values that are not finite. Restore or retrain it.")
    adapter = Adapter(encoder, spec, build_head(spec) if build_head else None, empty=True)
    made = {name: value.dtype for name, value in adapter.head.state_dict(prefix="head.").items()}
    try:
        adapter.load_state_dict({name: x.to(made.get(name, x.dtype)) for name, x in tensors.items()}, assign=True)
    except RuntimeError as error:
        raise ResourceError(f"The adapter {path} does not fit its own description ({error}). Retrain it.") from error
    return adapter.freeze(encoder).to(encoder.device)


def _read_spec(path: Path, metadata: dict[str, str]) -> AdapterSpec:
    if metadata.get("format") != _FORMAT:
        raise ResourceError(f"{path} has format {metadata.get('format')!r}; an adapter has {_FORMAT!r}. Retrain it.")
    try:
        values = json.loads(metadata["adapter"])
        spec = AdapterSpec(**values | {"labels": tuple(values["labels"])})
        sound = (
            0 <= spec.rank <= 1024
            and 0 <= spec.layers <= 64
            and not (spec.rank and spec.layers)
            and 8 <= spec.max_tokens <= 512
            and all(isinstance(x, str) for x in spec.labels)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"{path} does not describe itself as an adapter ({error}). Retrain it.") from error
    if not sound:
        raise ResourceError(f"{path} describes an impossible adapter ({spec}). Retrain it.")
    return spec


def _check_room(path: Path, spec: AdapterSpec, encoder: Encoder) -> None:
    if spec.max_tokens > encoder.config.max_position_embeddings:
        raise ResourceError(
            f"The adapter {path} reads {spec.max_tokens} tokens; this base has room for "
            f"{encoder.config.max_position_embeddings}. Use the base it was trained on."
        )
    if spec.layers > encoder.config.num_hidden_layers:
        raise ResourceError(
            f"The adapter {path} brings {spec.layers} layers; this base has {encoder.config.num_hidden_layers}. "
            "Use the base it was trained on."
        )


def _check(path: Path, spec: AdapterSpec, facts: dict[str, tuple[object, object]]) -> None:
    for name, (found, wanted) in facts.items():
        if found != wanted:
            raise ResourceError(
                f"The adapter {path} ({spec.head}) has {name} {found!r}; {wanted!r} is needed. "
                "Use the adapter made for it, or retrain it."
            )
