"""What every local model stands on: the shared encoder, adapters over it, and any full-size model in a head's place.

`encoder` and `adapters` hold the base and what is trained over it; `bert`, `tokenizer` and `batching` are their parts;
`weights` and `files` read and write what lies on the disk; `pairs` is the one protocol for scorers of pairs; `device`
and `pretrained` are how every full-size model is loaded.
"""

from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, PairModel, load_adapter, save_adapter, shipped
from langgraph_evidence.models.base.batching import RowCache, content_key, token_batches
from langgraph_evidence.models.base.device import Precision, measured_precision, pick_device, use_own_cores
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.files import write_aside
from langgraph_evidence.models.base.pairs import PairScorer, adapter_file, open_full_model, open_pair_model
from langgraph_evidence.models.base.pretrained import read_config, read_pretrained
from langgraph_evidence.models.base.probabilities import sigmoid, softmax
from langgraph_evidence.models.base.sequence_classifier import SequenceClassifier
from langgraph_evidence.models.base.tokenizer import Batch, TextTokenizer, Tokens
from langgraph_evidence.models.base.weights import find_base, read_json, read_tensors, sha256_of

__all__ = [
    "Adapter", "AdapterSpec", "Batch", "Encoder", "PairModel", "PairScorer", "Precision", "RowCache",
    "SequenceClassifier", "TextTokenizer", "Tokens", "adapter_file", "content_key", "find_base", "load_adapter",
    "measured_precision", "open_full_model", "open_pair_model", "pick_device", "read_config", "read_json",
    "read_pretrained", "read_tensors", "save_adapter", "sha256_of", "shipped", "sigmoid", "softmax", "token_batches",
    "use_own_cores", "write_aside",
]  # fmt: skip
