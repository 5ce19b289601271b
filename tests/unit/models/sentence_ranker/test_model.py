"""The ranker's score is what the cross encoder makes of a pair and the weighed cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, PairModel, save_adapter
from langgraph_evidence.models.sentence_ranker import model
from langgraph_evidence.models.sentence_ranker.model import HEAD, LABELS, RankerModel, SentenceRanker

if TYPE_CHECKING:
    from pathlib import Path

SENTENCES = ["the red cat", "a blue river was born", "who wrote the film"]


def adapter(encoder: Any) -> Any:
    torch.manual_seed(0)
    return Adapter(encoder, AdapterSpec(HEAD, encoder.sha256, 4, LABELS, 64))


def test_the_cosine_is_weighed_and_added(encoder: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(model, "_COSINE_WEIGHT", 2.5)
    pairs = [("red cat", sentence) for sentence in SENTENCES]
    read = PairModel(encoder, adapter(encoder)).logits(pairs)
    cosine = encoder.encode(SENTENCES) @ encoder.encode(["red cat"])[0]
    found = RankerModel(encoder, adapter(encoder)).logits(pairs)
    assert found == pytest.approx(read + 2.5 * cosine[:, None], abs=1e-5)
    assert found.dtype == np.float32
    save_adapter(adapter(encoder), tmp_path / "ranker.safetensors")
    loaded = SentenceRanker.load(tmp_path / "ranker.safetensors", encoder=encoder)
    assert loaded.score("red cat", SENTENCES) == pytest.approx(1 / (1 + np.exp(-found[:, 0])), abs=1e-3)


class Fixed:
    """Scores sentences by a table."""

    labels = LABELS

    def logits(self, pairs: Any) -> Any:
        return np.array([[{"a": 0.0, "b": 2.0, "c": -1.0}[sentence]] for _, sentence in pairs], dtype=np.float32)


def test_the_best_sentence_is_ranked_first_and_equal_ones_keep_their_order() -> None:
    ranker = SentenceRanker(Fixed())
    assert ranker.rank("q", ["a", "c", "b", "a"]) == [2, 0, 3, 1]
    assert ranker.rank("q", ["a", "c", "b"], k=2) == [2, 0]
    assert ranker.score("q", ["a", "b"]) == pytest.approx([0.5, 1 / (1 + np.exp(-2))])
