"""BERT's encoder in plain torch, with room for an adapter: additions at every linear map, or layers of its own.

The residual stream and the layer norms are float32 and the matrix products are of the weights' type: in bfloat16 this
keeps the ranking of nearest neighbours, at little cost. The base's weights take no gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base.tiles import in_tiles

if TYPE_CHECKING:
    from collections.abc import Mapping

LINEARS = ("qkv", "out", "up", "down")
"""The linear maps of a layer: query, key and value as one; attention's output; the two of the feed-forward block."""


@dataclass(frozen=True)
class BertConfig:
    """The shape of a BERT encoder, under the names of a Hugging Face config.json."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_dropout_prob: float = 0.1

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> BertConfig:
        """Reads a config.json.

        Raises:
            ResourceError: It describes no BERT, or lacks a size.
        """
        if values.get("model_type") != "bert" or values.get("hidden_act", "gelu") != "gelu":
            raise ResourceError(
                f"The config describes a {values.get('model_type')!r} model with {values.get('hidden_act')!r}; "
                "the shared encoder is a BERT with gelu. Give the folder of such a model."
            )
        try:
            return cls(**{item.name: values[item.name] for item in fields(cls) if item.name in values})
        except TypeError as error:
            raise ResourceError(f"The model's config.json is incomplete ({error}). Restore the file.") from error

    def sizes(self, linear: str) -> tuple[int, int]:
        """Input and output width of one of `LINEARS`."""
        hidden, inner = self.hidden_size, self.intermediate_size
        return {"qkv": (hidden, 3 * hidden), "out": (hidden, hidden), "up": (hidden, inner), "down": (inner, hidden)}[
            linear
        ]


class Lora(nn.Module):
    """Low-rank additions to every linear map of every layer (Hu et al. 2021): `x A^T B^T * scale`, B zero at the start.

    Args:
        config: The base's shape.
        rank: Width of the additions.
        scale: Their factor.
    """

    def __init__(self, config: BertConfig, rank: int, *, scale: float = 2.0) -> None:
        super().__init__()
        self.rank, self.scale = rank, scale
        self.a, self.b = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(config.num_hidden_layers):
            for linear in LINEARS:
                width, out = config.sizes(linear)
                self.a[f"{layer}_{linear}"] = nn.Parameter(torch.randn(rank, width) / width**0.5)
                self.b[f"{layer}_{linear}"] = nn.Parameter(torch.zeros(out, rank))

    def forward(self, x: Tensor, place: str) -> Tensor:
        """The addition for the linear map `place`, of x's type."""
        a, b = self.a[place].to(x.dtype), self.b[place].to(x.dtype)
        return F.linear(F.linear(x, a), b * self.scale)


class _Layer(nn.Module):
    def __init__(self, config: BertConfig, index: int) -> None:
        super().__init__()
        self.index, self.heads, self.dropout = index, config.num_attention_heads, config.hidden_dropout_prob
        self.linears = nn.ModuleDict({name: nn.Linear(*config.sizes(name)) for name in LINEARS})
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.output_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def _linear(self, name: str, x: Tensor, lora: Lora | None) -> Tensor:
        linear = cast("nn.Linear", self.linears[name])  # a ModuleDict forgets its kind
        x = x.to(linear.weight.dtype)
        y: Tensor = linear(x)
        return y if lora is None else y + lora(x, f"{self.index}_{name}")

    def _add(self, x: Tensor, y: Tensor, norm: nn.LayerNorm, *, training: bool) -> Tensor:
        total: Tensor = norm(x + F.dropout(y.float(), self.dropout, training))
        return total

    def forward(self, x: Tensor, mask: Tensor | None, lora: Lora | None) -> Tensor:
        training = self.training or (lora is not None and lora.training)
        count, length, width = x.shape
        qkv = in_tiles(lambda rows: self._linear("qkv", rows, lora), x)
        qkv = qkv.view(count, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = (
            _attend(query, key, value, mask) if training else F.scaled_dot_product_attention(query, key, value, mask)
        )
        mixed = mixed.transpose(1, 2).reshape(count, length, width)
        mixed = in_tiles(lambda rows: self._linear("out", rows, lora), mixed)
        x = self._add(x, mixed, self.attention_norm, training=training)
        inner = in_tiles(lambda rows: self._linear("down", F.gelu(self._linear("up", rows, lora)), lora), x)
        return self._add(x, inner, self.output_norm, training=training)


class OwnLayers(nn.Module):
    """A task's own copies of the base's top layers, wholly trained; it shares the layers below and the embeddings.

    Args:
        bert: The base, from which the copies start; made on the meta device they start from nothing.
        count: How many of its layers, counted from the top.
    """

    def __init__(self, bert: Bert, count: int) -> None:
        super().__init__()
        self.first = bert.config.num_hidden_layers - count
        shared = list(bert.layers)[self.first :]
        self.layers = nn.ModuleList(_Layer(bert.config, self.first + place) for place in range(count))
        with torch.no_grad():
            for own, base in zip(self.layers.parameters(), nn.ModuleList(shared).parameters(), strict=True):
                if not own.is_meta:
                    own.copy_(base)

    def at(self, index: int) -> nn.Module | None:
        """The task's layer in that place, None where the base's serves."""
        return None if index < self.first else self.layers[index - self.first]


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention in plain products: their gradient takes a third of the fused kernel's time on a CPU in bfloat16."""
    scores: Tensor = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.float().softmax(-1).to(value.dtype) @ value


Change = Lora | OwnLayers
"""What an adapter does to the base."""


class _Embedding(nn.Embedding):
    def reset_parameters(self) -> None:
        """Draws the weights where there are any: drawing on the meta device imports torch's compiler, 70 MB."""
        if not self.weight.is_meta:
            super().reset_parameters()


class Bert(nn.Module):
    """Token ids to hidden states.

    Args:
        config: The shape.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.words = _Embedding(config.vocab_size, config.hidden_size)
        self.positions = _Embedding(config.max_position_embeddings, config.hidden_size)
        self.types = _Embedding(config.type_vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(_Layer(config, index) for index in range(config.num_hidden_layers))
        self.eval().requires_grad_(requires_grad=False)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, change: Change | None = None) -> Tensor:
        """Hidden states, float32, (batch, length, width).

        Args:
            ids: Token ids, (batch, length).
            types: Token types, (batch, length).
            mask: True at tokens, False at padding, (batch, length).
            change: What an adapter adds or puts in place of layers; in training mode it also switches dropout on.
        """
        positions = self.positions.weight[: ids.shape[1]]
        x: Tensor = self.norm(self.words(ids) + self.types(types) + positions)
        attended = None if bool(mask.all()) else mask[:, None, None, :]
        lora = change if isinstance(change, Lora) else None
        for index, shared in enumerate(self.layers):
            own = change.at(index) if isinstance(change, OwnLayers) else None
            x = (own or shared)(x, attended, lora)
        return x


def to_precision(model: nn.Module, dtype: torch.dtype) -> None:
    """Casts a model's linear maps; embeddings and norms, cheap beside them, are float32."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.to(dtype)
        elif isinstance(module, nn.Embedding | nn.LayerNorm):
            module.float()


_NAMES = {
    "words.weight": "embeddings.word_embeddings.weight",
    "positions.weight": "embeddings.position_embeddings.weight",
    "types.weight": "embeddings.token_type_embeddings.weight",
    "norm.weight": "embeddings.LayerNorm.weight",
    "norm.bias": "embeddings.LayerNorm.bias",
}
_LAYER_NAMES = {
    "linears.out": "attention.output.dense",
    "linears.up": "intermediate.dense",
    "linears.down": "output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "output_norm": "output.LayerNorm",
}


def bert_from_tensors(config: BertConfig, tensors: Mapping[str, Tensor]) -> Bert:
    """Builds the encoder from tensors under their Hugging Face names; they stay of their type (see `to_precision`).

    Raises:
        ResourceError: A tensor is missing or has another shape than the config says.
    """
    prefix = "bert." if any(name.startswith("bert.") for name in tensors) else ""
    try:
        state = {ours: tensors[prefix + theirs] for ours, theirs in _NAMES.items()}
        for layer in range(config.num_hidden_layers):
            state |= _layer_state(layer, f"{prefix}encoder.layer.{layer}", tensors)
        with torch.device("meta"):
            bert = Bert(config)
        bert.load_state_dict(state, assign=True)
    except (KeyError, RuntimeError) as error:
        raise ResourceError(f"The weights do not fit the model's config ({error}). Restore both files.") from error
    return bert.eval().requires_grad_(requires_grad=False)


def _layer_state(layer: int, prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    state = {}
    for kind in ("weight", "bias"):
        parts = [tensors[f"{prefix}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
        state[f"layers.{layer}.linears.qkv.{kind}"] = torch.cat(parts)
        for ours, theirs in _LAYER_NAMES.items():
            state[f"layers.{layer}.{ours}.{kind}"] = tensors[f"{prefix}.{theirs}.{kind}"]
    return state
