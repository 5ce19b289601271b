"""An index: a folder of safe files, built to one side and renamed, verified to the last byte when it is opened."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval.bm25 import K1, B, BM25Retriever, Postings
from langgraph_evidence.retrieval.storage import MANIFEST, StoredPassages, read_manifest, sync_folder, write_manifest
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.retrieval.retriever import PassageRetriever
    from langgraph_evidence.types import Passage

Kind = Literal["bm25", "dense", "hybrid"]


def build_index(
    corpus: Sequence[Passage],
    out: str | Path,
    kind: Kind = "bm25",
    *,
    k1: float = K1,
    b: float = B,
    overwrite: bool = False,
) -> Path:
    """Builds an index of a corpus into a new folder; nothing is at `out` until all of it is.

    Args:
        corpus: The passages.
        out: The folder to make.
        kind: How the index ranks.
        k1: BM25's k1.
        b: BM25's b.
        overwrite: Whether an index that is at `out` may be replaced.

    Raises:
        InvalidInput: An argument is not allowed, or `out` is taken.
        ResourceError: The folder cannot be written.
    """
    out = Path(out)
    _check(corpus, kind, k1, b)
    _check_place(out, overwrite=overwrite)
    aside = out.with_name(f".{out.name}.building")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        StoredPassages.save(aside, corpus)
        Postings.build(map(passage_line, corpus), k1=k1, b=b).save(aside)
        write_manifest(aside, {"kind": kind, "passages": len(corpus), "bm25": {"k1": k1, "b": b}})
        _move(aside, out)
    except OSError as error:
        raise ResourceError(f"The index at {out} cannot be written: {error}.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return out


def open_index(path: str | Path, *, k: int = 5) -> PassageRetriever:
    """Opens an index as a retriever; texts and scores stay on the disk.

    Every file is compared with the manifest first, which takes about as long as reading it.

    Raises:
        InvalidInput: k is not allowed.
        ResourceError: There is no index, it is of another version, or a file of it is missing or changed.
    """
    path = Path(path)
    if k < 1:
        raise InvalidInput(f"k was given {k}; it takes a whole number of at least 1.")
    manifest = read_manifest(path)
    passages = StoredPassages(path)
    return _bm25(path, manifest, passages, k)


def retriever_for(passages: Sequence[Passage], kind: Kind = "bm25", *, k: int = 5) -> PassageRetriever:
    """Indexes passages in memory, such as the few paragraphs of one question.

    Raises:
        InvalidInput: There is no passage, or the kind is unknown.
    """
    _check(passages, kind, K1, B)
    return BM25Retriever(passages=passages, k=k)


def _bm25(path: Path, manifest: dict[str, Any], passages: StoredPassages, k: int) -> BM25Retriever:
    return BM25Retriever(passages=passages, k=k, postings=Postings.load(path), **manifest["bm25"])


def _check(corpus: Sequence[Passage], kind: str, k1: float, b: float) -> None:
    if kind not in get_args(Kind):
        raise InvalidInput(f"There is no kind of index {kind!r}; there are {', '.join(get_args(Kind))}.")
    if not corpus:
        raise InvalidInput("There is nothing to index: the corpus has no passage.")
    if not k1 >= 0 or not 0 <= b <= 1:
        raise InvalidInput(f"BM25 was given k1={k1}, b={b}; k1 is at least 0, b from 0 to 1.")


def _check_place(out: Path, *, overwrite: bool) -> None:
    if not out.exists():
        return
    if not (out / MANIFEST).is_file():
        raise InvalidInput(f"{out} exists and is no index; give another place.")
    if not overwrite:
        raise InvalidInput(f"There is an index at {out} already; remove it, or allow overwriting.")


def _move(aside: Path, out: Path) -> None:
    old = out.with_name(f".{out.name}.replaced")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.replace(old)
    aside.replace(out)
    sync_folder(out.parent)
    shutil.rmtree(old, ignore_errors=True)
