"""The sentence ranker's training at toy size, and its metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_training_data import written

from langgraph_evidence.models.sentence_ranker.model import SentenceRanker
from langgraph_evidence.training.sentence_ranker import train
from langgraph_evidence.training.sentence_ranker.data import read_lists
from langgraph_evidence.training.sentence_ranker.evaluate import list_rows, measure_lists, measure_sentence_ranker


def test_the_sentence_ranker_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=6, learning_rate=1e-2, measure_every=0, batch_tokens=400)
    result = train.train_sentence_ranker(encoder, folder, tmp_path / "run", options=options)
    assert result.progress.history[-1]["loss"] < result.progress.history[0]["loss"]
    lists = read_lists(folder, [7])
    chance = list_rows(lists, lambda _, sentences: [0.0] * len(sentences))
    ranker = SentenceRanker.load(tmp_path / "run" / "sentence_ranker.safetensors", encoder=encoder)
    rows: Any = measure_sentence_ranker(encoder, folder, [7], source=tmp_path / "run" / "sentence_ranker.safetensors")
    assert rows["trained"] == measure_lists(lists, ranker.score)
    assert rows["trained"]["score"] > np.mean([row["precision"] for row in chance])
    low, high = rows["trained"]["HotpotQA/2Wiki_interval"]
    assert low <= rows["trained"]["HotpotQA/2Wiki"] <= high
    assert sorted(ranker.rank("red", ["a", "b", "c"])) == [0, 1, 2]
    assert len(ranker.rank("red", ["a", "b", "c"], k=2)) == 2
    assert ranker.score("red", []) == []


def test_true_labels_teach_the_sentence_ranker_more_than_shuffled_ones(encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=6, learning_rate=1e-2, measure_every=0, batch_tokens=400)
    losses: list[float] = []
    for shuffled in (False, True):
        place = tmp_path / str(shuffled)
        data = written(place / "data", shuffled=shuffled)
        result = train.train_sentence_ranker(encoder, data, place, options=options)
        losses.append(result.progress.history[-1]["loss"])
    assert losses[0] < losses[1] / 2  # there is nothing to learn of chance


def test_average_precision_is_worked_by_hand() -> None:
    lists = [("x", "q", ["a", "b", "c", "d"], [1, 2])]
    metrics = measure_lists(lists, lambda _, __: [0.9, 0.8, 0.1, 0.2])
    assert metrics["score"] == pytest.approx((1 / 2 + 2 / 4) / 2)  # the good ones stand second and fourth
    assert metrics["x recall"] == 0.5
