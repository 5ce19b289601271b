"""The progress reward's training at toy size, and its pairs."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from langgraph_evidence.models.progress_reward.model import ProgressReward
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.progress_reward import train
from langgraph_evidence.training.progress_reward.data import make_pairs
from langgraph_evidence.training.progress_reward.evaluate import measure_progress_reward


def test_the_progress_reward_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(train.OPTIONS, epochs=10, learning_rate=1e-2)
    result = train.train_progress_reward(encoder, folder, tmp_path / "run", options=options)
    assert result.progress.history[-1]["loss"] < result.progress.history[0]["loss"]
    assert result.metrics["score"] > 0.6
    reward = ProgressReward.load(tmp_path / "run" / "progress_reward.safetensors", encoder=encoder)
    metrics = measure_progress_reward(encoder, folder, [7], source=tmp_path / "run" / "progress_reward.safetensors")
    assert set(metrics) == {"trained", "length", "similarity"}
    assert metrics["trained"]["score"] == pytest.approx(result.metrics["score"])
    assert metrics["trained"]["ASQA"] == pytest.approx(result.metrics["ASQA"])
    assert "score_interval" in metrics["length"]
    values = reward.reward("Who wrote it?", [["The cat."], ["The cat.", "The dog."]])
    assert len(values) == 2
    assert all(0 < value < 1 for value in values)


def test_true_preferences_teach_the_progress_reward_more_than_shuffled_ones(
    folder: Any, encoder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(train.OPTIONS, epochs=10, learning_rate=1e-2)
    true_pairs = make_pairs

    def shuffled_pairs(data: DataFolder, folds: Any, **how: Any) -> Any:
        pairs = true_pairs(data, folds, **how)
        chance = random.Random(0)
        swap = 7 not in set(folds)
        return [
            replace(pair, better=pair.worse, worse=pair.better) if swap and chance.random() < 0.5 else pair
            for pair in pairs
        ]

    found: list[float] = []
    for make in (true_pairs, shuffled_pairs):
        monkeypatch.setattr(train, "make_pairs", make)
        result = train.train_progress_reward(encoder, folder, tmp_path / make.__name__, options=options)
        found.append(result.metrics["score"])
    assert found[0] > found[1]


def test_preferences_keep_what_was_said_and_what_experts_thought(folder: Any) -> None:
    pairs = make_pairs(folder, [1])
    expert = next(pair for pair in pairs if pair.source == "ExpertQA")
    assert (expert.better, expert.worse, expert.said) == ("A cat.", "A dog.", ())
    repeated = [pair for pair in pairs if pair.source == "ASQA" and pair.said]
    assert all(pair.worse in pair.said for pair in repeated)
