"""The files of an index: arrays and passages that stay on disk, and a manifest that knows every byte of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from langgraph_evidence.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike, NDArray

    from langgraph_evidence.retrieval.corpus import CorpusPassage
    from langgraph_evidence.types import Passage

VERSION = 1
MANIFEST = "manifest.json"
_FORMAT = "langgraph-evidence index"
_PASSAGES, _OFFSETS = "passages.jsonl", "passages.offsets.npy"


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Writes an array of plain numbers."""
    np.save(path, np.ascontiguousarray(array), allow_pickle=False)


def load_array(path: Path, dtype: DTypeLike, dimensions: int) -> NDArray[Any]:
    """Memory-maps an array, of which nothing is believed but its numbers.

    Raises:
        ResourceError: It is no .npy file, or of another type or shape.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ResourceError(f"{path} is no array of numbers ({error}); build the index again.") from error
    if array.dtype != np.dtype(dtype) or array.ndim != dimensions:
        raise ResourceError(f"{path} holds {array.dtype} of shape {array.shape}; build the index again.")
    # A plain view: every slice of a numpy.memmap costs ten times a plain one's.
    return cast("NDArray[Any]", array.view(np.ndarray))


class StoredPassages(Sequence["Passage"]):
    """Passages that stay in a JSON Lines file; each is read when it is asked for.

    Reading, unlike mapping, leaves no pages of text in this process.

    Args:
        folder: The index they were saved in.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _PASSAGES
        self._offsets = load_array(folder / _OFFSETS, np.int64, 1)

    @staticmethod
    def save(folder: Path, passages: Iterable[Passage]) -> None:
        """Writes the passages and where each begins."""
        offsets = [0]
        with (folder / _PASSAGES).open("wb") as file:
            for passage in passages:
                file.write(json.dumps(passage, ensure_ascii=False).encode() + b"\n")
                offsets.append(file.tell())
        save_array(folder / _OFFSETS, np.array(offsets, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, position: int) -> Passage: ...

    @overload
    def __getitem__(self, position: slice) -> list[Passage]: ...

    def __getitem__(self, position: int | slice) -> Passage | list[Passage]:
        if isinstance(position, slice):
            return [self[index] for index in range(*position.indices(len(self)))]
        if not -len(self) <= position < len(self):
            raise IndexError(position)
        position %= len(self)
        start, end = int(self._offsets[position]), int(self._offsets[position + 1])
        try:
            with self._path.open("rb") as file:
                file.seek(start)
                row = json.loads(file.read(max(end - start, 0)))
            return _passage(row)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResourceError(
                f"{self._path} has no passage at byte {start} ({error}); build the index again."
            ) from error


def _passage(row: dict[str, Any]) -> CorpusPassage:
    passage: dict[str, Any] = {key: str(row[key]) for key in ("id", "title", "text")}
    if "parent" in row:
        passage.update(parent=str(row["parent"]), position=int(row["position"]))
    return cast("CorpusPassage", passage)


def write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    """Writes size and SHA-256 of every file of the folder with the given facts, all safely on the disk."""
    files = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
        files[path.name] = {"size": path.stat().st_size, "sha256": _sha256(path)}
    content = {"format": _FORMAT, "version": VERSION, **facts, "files": files}
    with (folder / MANIFEST).open("wb") as file:
        file.write(_signed(content))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads the manifest of an index and compares every file with it, sizes first.

    Raises:
        ResourceError: There is no index, it is of another version, or one of its files is missing or changed.
    """
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
        content = json.loads(data)
        version = content.get("version") if content.get("format") == _FORMAT else None
    except FileNotFoundError:
        raise ResourceError(f"There is no index at {folder}; make one with `evidence index build`.") from None
    except (OSError, ValueError, RecursionError, AttributeError) as error:
        raise ResourceError(f"{path} is damaged ({error}); build the index again.") from error
    if isinstance(version, int) and version != VERSION:
        raise ResourceError(f"{path} is of version {version}, this package reads {VERSION}; build the index again.")
    content.pop("sha256", None)
    if version is None or _signed(content) != data:
        raise ResourceError(f"{path} is damaged; build the index again.")
    _compare(folder, content["files"])
    return cast("dict[str, Any]", content)


def _compare(folder: Path, files: dict[str, dict[str, Any]]) -> None:
    for name, known in files.items():
        path = folder / Path(name).name
        size = path.stat().st_size if path.is_file() else None
        if size != known["size"]:
            found = "missing" if size is None else f"{size} bytes long, not {known['size']}"
            raise ResourceError(f"{path} is {found}; build the index again.")
    for name, known in files.items():
        if _sha256(folder / Path(name).name) != known["sha256"]:
            raise ResourceError(f"{folder / name} has changed since it was built; build the index again.")


def _signed(content: dict[str, Any]) -> bytes:
    """The one way to write this content, with its own hash, so that no byte of it can change unseen."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "sha256": digest}, sort_keys=True, indent=1).encode() + b"\n"


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResourceError(f"{path} cannot be read: {error}.") from error


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
