from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval import (
    BM25Retriever,
    Corpus,
    CorpusPassage,
    build_index,
    open_index,
    retriever_for,
    storage,
)
from langgraph_evidence.retrieval import index as index_module
from langgraph_evidence.retrieval.storage import StoredPassages, load_array
from langgraph_evidence.types import Passage

CORPUS = Corpus(
    [
        {"id": "a", "title": "Oslo", "text": "Oslo is the capital of Norway. \u00c5s is near."},
        {"id": "b", "title": "Bergen", "text": "Bergen is a city in Norway."},
        CorpusPassage(id="c#0", title="Rome", text="Rome is the capital of Italy.", parent="c", position=0),
    ]
)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build_index(CORPUS, tmp_path / "index", k1=0.9, b=0.4)


def test_an_opened_index_answers_as_the_memory_does(built: Path) -> None:
    opened = open_index(built, k=2)
    in_memory = BM25Retriever(passages=CORPUS, k=2, k1=0.9, b=0.4)
    assert opened.invoke("capital of Italy") == in_memory.invoke("capital of Italy")
    assert opened.invoke("Rome")[0].metadata["parent"] == "c"
    assert isinstance(opened, BM25Retriever)
    assert opened.k1 == 0.9


def test_one_changed_byte_anywhere_is_an_error_that_names_the_file(built: Path) -> None:
    for path in sorted(built.iterdir()):
        whole = path.read_bytes()
        for place in sorted({0, len(whole) // 3, len(whole) // 2, len(whole) - 1}):
            changed = bytearray(whole)
            changed[place] ^= 1
            path.write_bytes(changed)
            with pytest.raises(ResourceError, match=path.name):
                open_index(built)
        path.write_bytes(whole[:-1])
        with pytest.raises(ResourceError, match=path.name):
            open_index(built)
        path.unlink()
        with pytest.raises(ResourceError):
            open_index(built)
        path.write_bytes(whole)
    assert open_index(built).invoke("Oslo")


def test_every_byte_of_the_manifest_counts(built: Path) -> None:
    path = built / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ResourceError, match=r"manifest\.json"):
            open_index(built)


def test_another_version_is_refused(built: Path) -> None:
    path = built / "manifest.json"
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({**content, "version": 99}), encoding="utf-8")
    with pytest.raises(ResourceError, match=r"of version 99, this package reads 1"):
        open_index(built)


def test_no_index_and_wrong_arguments(tmp_path: Path, built: Path) -> None:
    with pytest.raises(ResourceError, match="There is no index at"):
        open_index(tmp_path / "none")
    with pytest.raises(InvalidInput, match="k was given 0"):
        open_index(built, k=0)
    with pytest.raises(InvalidInput, match="There is an index at"):
        build_index(CORPUS, built)
    with pytest.raises(InvalidInput, match="no kind of index 'colbert'"):
        build_index(CORPUS, tmp_path / "x", "colbert")  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(InvalidInput, match="b=2"):
        build_index(CORPUS, tmp_path / "x", b=2)
    with pytest.raises(InvalidInput, match="nothing to index"):
        retriever_for([])
    (tmp_path / "mine").mkdir()
    with pytest.raises(InvalidInput, match="is no index"):
        build_index(CORPUS, tmp_path / "mine", overwrite=True)


def test_overwriting(built: Path) -> None:
    build_index(CORPUS[:1], built, overwrite=True)
    assert len(open_index(built).passages) == 1
    assert sorted(path.name for path in built.parent.iterdir()) == ["index"]


def test_a_failed_build_leaves_the_old_index_and_nothing_else(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index_module, "write_manifest", full)
    with pytest.raises(ResourceError, match="No space left"):
        build_index(CORPUS[:1], built, overwrite=True)
    assert len(open_index(built).passages) == 3
    assert sorted(path.name for path in built.parent.iterdir()) == ["index"]


def test_arrays_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ResourceError, match="no array of numbers"):
        load_array(tmp_path / "x.npy", np.float32, 1)
    np.save(tmp_path / "y.npy", np.zeros(3))
    with pytest.raises(ResourceError, match="holds float64"):
        load_array(tmp_path / "y.npy", np.float32, 1)


def test_stored_passages_are_a_sequence(built: Path) -> None:
    stored = StoredPassages(built)
    assert list(stored) == list(CORPUS)
    assert stored[-1] == CORPUS[-1]
    assert stored[:2] == CORPUS[:2]
    (built / "passages.jsonl").write_bytes(b"x" * 1000)
    with pytest.raises(ResourceError, match="has no passage at byte 0"):
        stored[0]


def test_a_corpus_without_words(tmp_path: Path) -> None:
    path = build_index(Corpus([Passage(id="a", title="", text="!!!")]), tmp_path / "i")
    assert open_index(path).invoke("hello") == []


def test_a_postings_file_that_names_no_passage(built: Path) -> None:
    retriever = open_index(built)
    assert isinstance(retriever, BM25Retriever)
    postings = retriever.postings
    assert postings is not None
    wrong = postings._replace(positions=postings.positions + 100)
    with pytest.raises(ResourceError, match="names a passage that it does not have"):
        BM25Retriever(passages=CORPUS, postings=wrong).invoke("Oslo")


def test_a_manifest_that_describes_no_index(built: Path) -> None:
    path = built / "manifest.json"
    content = json.loads(path.read_bytes())
    del content["sha256"], content["bm25"]
    path.write_bytes(storage._signed(content))
    with pytest.raises(ResourceError, match="describes no index"):
        open_index(built)
    path.write_bytes(storage._signed({**content, "passages": 7}))
    with pytest.raises(ResourceError, match="holds 3 passages, not 7"):
        open_index(built)


def test_a_build_killed_at_any_moment_leaves_no_index(tmp_path: Path) -> None:
    source = (
        "import os, signal, sys\n"
        "from langgraph_evidence.retrieval import Corpus, build_index, index\n"
        "index.write_manifest = lambda *args: os.kill(os.getpid(), signal.SIGKILL)\n"
        "build_index(Corpus([{'id': 'a', 'title': '', 'text': 'x'}]), sys.argv[1])\n"
    )
    out = tmp_path / "i"
    done = subprocess.run([sys.executable, "-c", source, str(out)], check=False)
    assert done.returncode < 0
    assert not out.exists()
    build_index(CORPUS, out)
    assert [file.name for file in tmp_path.iterdir()] == ["i"]
