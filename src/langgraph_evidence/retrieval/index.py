"""An index: a folder of safe files, built to one side and renamed, verified to the last byte when it is opened."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from langgraph_evidence.errors import EvidenceError, InvalidInput, ResourceError
from langgraph_evidence.retrieval.bm25 import K1, B, BM25Retriever, Postings, language_of, terms_of
from langgraph_evidence.retrieval.dense import DenseRetriever, load_vectors, save_vectors
from langgraph_evidence.retrieval.embedding import Embedder, EncoderLike, embed_resumably
from langgraph_evidence.retrieval.hybrid import HybridRetriever
from langgraph_evidence.retrieval.okapi import OkapiRetriever
from langgraph_evidence.retrieval.storage import MANIFEST, StoredPassages, read_manifest, sync_folder, write_manifest
from langgraph_evidence.text import language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langgraph_evidence.retrieval.retriever import PassageRetriever
    from langgraph_evidence.types import Passage

    _Part = Callable[[Path], dict[str, Any]]
    """Writes its files into a folder and gives what the manifest says of them."""

Kind = Literal["bm25", "dense", "hybrid"]
PoolKind = Literal["bm25", "dense", "hybrid", "okapi"]


def build_index(
    corpus: Sequence[Passage],
    out: str | Path,
    kind: Kind = "bm25",
    *,
    k1: float = K1,
    b: float = B,
    encoder: EncoderLike | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Builds an index of a corpus into a new folder; nothing is at `out` until all of it is.

    Vectors are computed into shards beside it; after an interrupted build, the same call goes on where it was.

    Args:
        corpus: The passages; their language goes into the index, and BM25 reads queries in it.
        out: The folder to make.
        kind: How the index ranks.
        k1: BM25's term-frequency saturation.
        b: BM25's length normalisation.
        encoder: What embeds the passages of a dense or hybrid index; without one, the shared MiniLM.
        overwrite: Whether an index that is at `out` may be replaced.
        progress: Called with the passages embedded so far and all passages.

    Raises:
        InvalidInput: An argument is not allowed, or `out` is taken.
        MissingExtra: The shared MiniLM was wanted and its packages are not installed.
        ModelError: The encoder failed.
        ResourceError: The folder cannot be written.
    """
    out = Path(out)
    _check(corpus, kind, Kind)
    _check_place(out, overwrite=overwrite)
    parts: dict[str, _Part] = {
        "bm25": partial(_build_bm25, corpus, k1=k1, b=b),
        "dense": partial(_build_dense, corpus, out, encoder=encoder, progress=progress),
    }
    _build(corpus, out, parts, kind=kind)
    return out


def _build(corpus: Sequence[Passage], out: Path, parts: Mapping[str, _Part], *, kind: Kind) -> None:
    aside = out.with_name(f".{out.name}.building")
    facts: dict[str, Any] = {"kind": kind, "passages": len(corpus), "language": language_of(corpus).code}
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        StoredPassages.save(aside, corpus)
        facts |= {name: build(aside) for name, build in parts.items() if kind in {name, "hybrid"}}
        write_manifest(aside, facts)
        _move(aside, out)
        shutil.rmtree(_shards(out), ignore_errors=True)
    except OSError as error:
        raise ResourceError(f"The index at {out} cannot be written: {error}.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def open_index(path: str | Path, *, k: int = 5, encoder: EncoderLike | None = None) -> PassageRetriever:
    """Opens an index as a retriever; texts, scores and vectors stay on the disk.

    Every file is compared with the manifest first, which takes about as long as reading it. This finds damage, not
    malice: open a faiss graph of other people's making only if you trust them.

    Args:
        path: The folder that `build_index` made.
        k: How many documents a query gets, at most.
        encoder: What embeds the queries of a dense or hybrid index, the same as when it was built.

    Raises:
        InvalidInput: k is not allowed, or the encoder is another than the index was built with.
        MissingExtra: The index needs the shared MiniLM and its packages are not installed.
        ResourceError: There is no index, it is of another version, or a file of it is missing or changed.
    """
    path = Path(path)
    if k < 1:
        raise InvalidInput(f"k was given {k}; it takes a whole number of at least 1.")
    try:
        manifest = read_manifest(path)
        passages = StoredPassages(path)
        if len(passages) != manifest["passages"]:
            raise ResourceError(f"{path} holds {len(passages)} passages, not {manifest['passages']}; build it again.")
        return _open(path, manifest, passages, k, encoder=encoder)
    except EvidenceError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ResourceError(f"{path / MANIFEST} describes no index ({error!r}); build the index again.") from error


def retriever_for(
    passages: Sequence[Passage], kind: PoolKind = "bm25", *, k: int = 5, encoder: EncoderLike | None = None
) -> PassageRetriever:
    """Indexes passages in memory, such as the few paragraphs of one question.

    Args:
        passages: The passages.
        kind: How they are ranked; `okapi` is rank_bm25, the baseline.
        k: How many documents a query gets, at most.
        encoder: What embeds them for `dense` and `hybrid`; without one, the shared MiniLM.

    Raises:
        InvalidInput: There is no passage, or the kind is unknown.
        MissingExtra: The shared MiniLM was wanted and its packages are not installed.
    """
    _check(passages, kind, PoolKind)
    if kind == "okapi":
        return OkapiRetriever(passages=passages, k=k)
    if kind == "bm25":
        return BM25Retriever(passages=passages, k=k)
    # Outside the constructor, for pydantic hides the type of an error that is raised inside it.
    embedder = Embedder(encoder)
    dense = DenseRetriever(passages=passages, k=k, encoder=embedder.source)
    if kind == "dense":
        return dense
    return HybridRetriever(passages=passages, k=k, parts=[BM25Retriever(passages=passages), dense])


def _build_bm25(corpus: Sequence[Passage], folder: Path, *, k1: float, b: float) -> dict[str, float]:
    if not k1 >= 0 or not 0 <= b <= 1:
        raise InvalidInput(f"BM25 was given k1={k1}, b={b}; k1 is at least 0, b from 0 to 1.")
    Postings.build(terms_of(corpus, language_of(corpus)), k1=k1, b=b).save(folder)
    return {"k1": k1, "b": b}


def _build_dense(
    corpus: Sequence[Passage],
    out: Path,
    folder: Path,
    *,
    encoder: EncoderLike | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, str]:
    embedder = Embedder(encoder)
    files = embed_resumably(corpus, embedder, _shards(out), progress=progress)
    save_vectors(folder, files, len(corpus))
    return {"encoder": embedder.name}


def _shards(out: Path) -> Path:
    return out.with_name(f".{out.name}.vectors")


def _open(
    path: Path, manifest: dict[str, Any], passages: StoredPassages, k: int, *, encoder: EncoderLike | None
) -> PassageRetriever:
    parts: list[PassageRetriever] = []
    if manifest["kind"] in {"bm25", "hybrid"}:
        # An index made before languages were told apart is an English one.
        read_as = language(manifest.get("language", "en")).code
        parts.append(
            BM25Retriever(passages=passages, k=k, language=read_as, postings=Postings.load(path), **manifest["bm25"])
        )
    if manifest["kind"] in {"dense", "hybrid"}:
        embedder, built_with = Embedder(encoder), manifest["dense"]["encoder"]
        if embedder.name != built_with:
            raise InvalidInput(f"{path} was built with {built_with}, not {embedder.name}; give that encoder.")
        parts.append(DenseRetriever(passages=passages, k=k, encoder=embedder.source, vectors=load_vectors(path)))
    return parts[0] if len(parts) == 1 else HybridRetriever(passages=passages, k=k, parts=parts)


def _check(corpus: Sequence[Passage], kind: str, kinds: object) -> None:
    if kind not in get_args(kinds):
        raise InvalidInput(f"There is no kind of index {kind!r}; there are {', '.join(get_args(kinds))}.")
    if not corpus:
        raise InvalidInput("There is nothing to index: the corpus has no passage.")


def _check_place(out: Path, *, overwrite: bool) -> None:
    if not out.exists():
        return
    if not (out / MANIFEST).is_file():
        raise InvalidInput(f"{out} exists and is no index; give another place.")
    if not overwrite:
        raise InvalidInput(f"There is an index at {out} already; remove it, or give another place.")


def _move(aside: Path, out: Path) -> None:
    old = out.with_name(f".{out.name}.replaced")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.replace(old)
    aside.replace(out)
    sync_folder(out.parent)
    shutil.rmtree(old, ignore_errors=True)
