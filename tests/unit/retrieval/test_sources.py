from __future__ import annotations

from pathlib import Path

import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.retrieval import Corpus, build_index
from langgraph_evidence.retrieval.sources import open_source


def test_an_index_a_corpus_or_the_shipped_sample(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"id": "a", "text": "one word"}\n', encoding="utf-8")
    index = build_index(Corpus.load(file), tmp_path / "i")
    assert open_source(corpus=file).invoke("word") == open_source(index=index).invoke("word")
    assert len(open_source().passages) > 100
    with pytest.raises(InvalidInput, match="not both"):
        open_source(corpus=file, index=index)
