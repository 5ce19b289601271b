"""The one loader of full-size models: any of transformers, by folder or hub id, from safetensors, without its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import MissingExtra, ResourceError
from langgraph_evidence.models.base.device import DTYPES, check_precision, pick_device

if TYPE_CHECKING:
    from pathlib import Path

_SAFE = {"trust_remote_code": False}


def _refusal(source: str | Path, what: str, error: Exception) -> ResourceError:
    return ResourceError(
        f"{str(source)!r} cannot be read as {what} ({error}). "
        "Give a folder or hub id with config.json, a tokenizer and *.safetensors."
    )


def read_config(source: str | Path, *, what: str) -> Any:
    """The config of a model, before its weights are read.

    Args:
        source: A folder or hub id.
        what: What it should be, for the error.

    Raises:
        MissingExtra: transformers is not installed.
        ResourceError: There is no such model.
    """
    try:
        return _transformers().AutoConfig.from_pretrained(source, **_SAFE)
    except Exception as error:
        raise _refusal(source, what, error) from error


def read_pretrained(
    source: str | Path, kind: str, *, what: str, device: str = "auto", precision: str = "auto"
) -> tuple[Any, Any]:
    """A model in evaluation mode, on its device, and its tokenizer; nothing is unpickled, no code of the model is run.

    Args:
        source: A folder or hub id.
        kind: The transformers class that reads it: `AutoModelForCausalLM`, ...
        what: What it should be, for the error.
        device: Where to compute.
        precision: Type of the weights; auto takes the one that they are stored in.

    Raises:
        MissingExtra: transformers is not installed.
        ResourceError: There is no such model, it has no safetensors, or a file is damaged.
        InvalidInput: No such device or precision.
    """
    check_precision(precision)
    place, library = pick_device(device), _transformers()
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(source, **_SAFE)
        model = getattr(library, kind).from_pretrained(
            source, use_safetensors=True, dtype=DTYPES.get(precision, "auto"), **_SAFE
        )
    except Exception as error:
        raise _refusal(source, what, error) from error
    return model.to(place).eval(), tokenizer


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra("A full-size model needs transformers: pip install 'langgraph-evidence[local]'") from error
    return transformers
