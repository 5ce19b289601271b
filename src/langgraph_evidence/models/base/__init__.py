"""What every local model stands on: the shared encoder, adapters over it, and any full-size model in a head's place.

`encoder` and `adapters` hold the base and what is trained over it; `bert`, `tokenizer` and `batching` are their parts;
`weights` and `files` read and write what lies on the disk; `pairs` is the one protocol for scorers of pairs; `device`
and `pretrained` are how every full-size model is loaded; `once` is how a process shares one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.front_door import lazily
from langgraph_evidence.models.base.once import loading, once

if TYPE_CHECKING:
    from langgraph_evidence.models.base.adapters import (
        Adapter,
        AdapterSpec,
        PairModel,
        load_adapter,
        save_adapter,
        shipped,
    )
    from langgraph_evidence.models.base.batching import RowCache, content_key, token_batches
    from langgraph_evidence.models.base.device import Precision
    from langgraph_evidence.models.base.encoder import Encoder
    from langgraph_evidence.models.base.files import write_aside
    from langgraph_evidence.models.base.pairs import PairScorer, adapter_file, open_full_model, open_pair_model
    from langgraph_evidence.models.base.pretrained import read_config, read_pretrained
    from langgraph_evidence.models.base.probabilities import sigmoid, softmax
    from langgraph_evidence.models.base.sequence_classifier import SequenceClassifier
    from langgraph_evidence.models.base.tokenizer import Batch, TextTokenizer, Tokens
    from langgraph_evidence.models.base.weights import find_base, read_json, read_tensors, sha256_of

__all__ = [
    "Adapter",
    "AdapterSpec",
    "Batch",
    "Encoder",
    "PairModel",
    "PairScorer",
    "Precision",
    "RowCache",
    "SequenceClassifier",
    "TextTokenizer",
    "Tokens",
    "adapter_file",
    "content_key",
    "default_encoder",
    "find_base",
    "load_adapter",
    "loading",
    "once",
    "open_full_model",
    "open_pair_model",
    "read_config",
    "read_json",
    "read_pretrained",
    "read_tensors",
    "save_adapter",
    "sha256_of",
    "shipped",
    "sigmoid",
    "softmax",
    "token_batches",
    "write_aside",
]

__getattr__ = lazily(
    __name__,
    {
        "adapters": "Adapter AdapterSpec PairModel load_adapter save_adapter shipped",
        "batching": "RowCache content_key token_batches",
        "device": "Precision",
        "encoder": "Encoder",
        "files": "write_aside",
        "pairs": "PairScorer adapter_file open_full_model open_pair_model",
        "pretrained": "read_config read_pretrained",
        "probabilities": "sigmoid softmax",
        "sequence_classifier": "SequenceClassifier",
        "tokenizer": "Batch TextTokenizer Tokens",
        "weights": "find_base read_json read_tensors sha256_of",
    },
)


@once
def default_encoder() -> Encoder:
    """The process's shared encoder, loaded at its first use.

    Raises:
        ResourceError: The default weights are nowhere to be found, or were altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.base.encoder import Encoder

    return Encoder.load()
