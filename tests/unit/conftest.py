"""A tiny BERT in a folder: the shape and the files of the real base, made in a moment from a seed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from langgraph_evidence.models.base.encoder import Encoder

WORDS = "the a of is was in who what when where film city king river born wrote red blue green cat dog lion".split()
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def write_base(folder: Any, seed: Any = 0) -> Any:
    """Writes model.safetensors, config.json and tokenizer.json."""

    folder.mkdir(parents=True, exist_ok=True)
    chance = torch.Generator().manual_seed(seed)

    def normal(*shape: Any) -> Any:
        return torch.randn(*shape, generator=chance) * 0.15

    width, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    tensors = {
        "embeddings.word_embeddings.weight": normal(64, width),
        "embeddings.position_embeddings.weight": normal(128, width),
        "embeddings.token_type_embeddings.weight": normal(2, width),
    }
    shapes = {
        "attention.self.query": (width, width),
        "attention.self.key": (width, width),
        "attention.self.value": (width, width),
        "attention.output.dense": (width, width),
        "intermediate.dense": (inner, width),
        "output.dense": (width, inner),
    }
    for layer in range(CONFIG["num_hidden_layers"]):
        for name, shape in shapes.items():
            tensors[f"encoder.layer.{layer}.{name}.weight"] = normal(*shape)
            tensors[f"encoder.layer.{layer}.{name}.bias"] = normal(shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            tensors[f"encoder.layer.{layer}.{name}.weight"] = 1 + normal(width)
            tensors[f"encoder.layer.{layer}.{name}.bias"] = normal(width)
    tensors["embeddings.LayerNorm.weight"] = 1 + normal(width)
    tensors["embeddings.LayerNorm.bias"] = normal(width)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder: Any) -> None:

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({name: index for index, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture(scope="session")
def make_base() -> Any:
    return write_base


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture
def encoder(base: Any) -> Any:
    return Encoder.load(base, precision="fp32", device="cpu")
