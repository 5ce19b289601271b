from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, PairModel
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.base.loop import epoch_batches, train
from langgraph_evidence.training.base.options import TrainOptions

ANIMALS, COLOURS = ["cat", "dog", "lion"], ["red", "blue", "green"]
ROWS = [
    (question, f"{lead} {word} {tail}", int(word in ANIMALS))
    for question in ("what is it", "who was it")
    for lead in ("the", "a", "")
    for tail in ("", "of the king", "in the river")
    for word in ANIMALS + COLOURS
]
OPTIONS = TrainOptions(epochs=6, learning_rate=1e-2, batch_tokens=160, seed=3)


class Interrupted(Exception):
    pass


def run(
    encoder: Any,
    out: Any,
    *,
    options: Any = OPTIONS,
    labels: Any = None,
    resume: Any = False,
    stop_at: Any = None,
    data: Any = None,
) -> Any:
    truth = torch.tensor(labels if labels is not None else [row[2] for row in ROWS])
    torch.manual_seed(options.seed)
    adapter = Adapter(encoder, AdapterSpec("toy", encoder.sha256, 4, ("no", "yes"), 32))
    inputs = encoder.tokenizer.pairs([row[:2] for row in ROWS], 32)

    def step(indexes: Any) -> Any:
        return cross_entropy(
            adapter.outputs(encoder, encoder.tokenizer.collate([inputs[i] for i in indexes])), truth[indexes]
        )

    def measure(frozen: Any) -> Any:
        found = PairModel(encoder, frozen).logits([row[:2] for row in ROWS]).argmax(1)
        return {"score": float((found == np.array([row[2] for row in ROWS])).mean())}

    def report(done: Any, _: Any, __: Any) -> None:
        if done == stop_at:
            raise Interrupted

    lengths = [len(tokens) for tokens in inputs]
    result = train(adapter, lengths, step, measure, options=options, out=out, data=data, resume=resume, report=report)
    return adapter, result


def test_the_loss_falls_and_true_labels_beat_shuffled_ones(encoder: Any, tmp_path: Path) -> None:
    _, result = run(encoder, tmp_path / "true")
    shuffled = [row[2] for row in ROWS]
    random.Random(0).shuffle(shuffled)
    _, control = run(encoder, tmp_path / "control", labels=shuffled)
    assert result.progress.history[-1]["loss"] < result.progress.history[0]["loss"] / 2
    assert result.metrics["score"] > 0.95
    assert control.metrics["score"] < 0.8


def test_a_killed_run_that_is_resumed_ends_like_one_that_was_not(encoder: Any, tmp_path: Path) -> None:
    whole, result = run(encoder, tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(encoder, tmp_path / "parts", stop_at=result.progress.step // 2)
    resumed, again = run(encoder, tmp_path / "parts", resume=True)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name
    assert [entry["loss"] for entry in again.progress.history][-1] == pytest.approx(
        result.progress.history[-1]["loss"], rel=1e-6
    )


def test_a_moving_average_is_what_is_kept_and_resumed(encoder: Any, tmp_path: Path) -> None:
    options = replace(OPTIONS, average=0.9)
    last, _ = run(encoder, tmp_path / "last")
    whole, result = run(encoder, tmp_path / "whole", options=options)
    assert any(not torch.equal(value, last.state_dict()[name]) for name, value in whole.state_dict().items())
    with pytest.raises(Interrupted):
        run(encoder, tmp_path / "parts", options=options, stop_at=result.progress.step // 2)
    resumed, _ = run(encoder, tmp_path / "parts", options=options, resume=True)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name


def test_results_name_seed_data_and_versions(encoder: Any, tmp_path: Path) -> None:
    run(encoder, tmp_path, data={"rows.jsonl": "abc"})
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["options"]["seed"] == 3
    assert results["data"] == {"rows.jsonl": "abc"}
    assert torch.__version__.startswith(results["versions"]["torch"])  # a local part such as +cu130 may follow
    assert results["best"]["score"] > 0.9
    assert not list(tmp_path.glob(".*"))  # nothing is left aside


def test_it_stops_when_nothing_gets_better(encoder: Any, tmp_path: Path) -> None:
    options = TrainOptions(epochs=50, learning_rate=1e-9, batch_tokens=160, patience=2)
    _, result = run(encoder, tmp_path, options=options)
    assert len(result.progress.history) == 3


def test_a_checkpoint_of_other_data_or_options_is_refused(encoder: Any, tmp_path: Path) -> None:
    run(encoder, tmp_path, data={"rows.jsonl": "abc"})
    with pytest.raises(ResourceError, match="other options or data"):
        run(encoder, tmp_path, data={"rows.jsonl": "def"}, resume=True)


def test_a_damaged_checkpoint_is_refused(encoder: Any, tmp_path: Path) -> None:
    run(encoder, tmp_path)
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ResourceError, match="truncated"):
        run(encoder, tmp_path, resume=True)


def test_no_examples_is_an_error(encoder: Any, tmp_path: Path) -> None:
    adapter = Adapter(encoder, AdapterSpec("toy", encoder.sha256, 4, ("no",), 32))
    with pytest.raises(InvalidInput, match="no training examples"):
        train(adapter, [], lambda _: torch.zeros(()), lambda _: {"score": 0.0}, options=OPTIONS, out=tmp_path)


def test_an_epoch_holds_every_example_once_within_the_budget() -> None:
    lengths = [random.Random(0).randint(3, 60) for _ in range(300)]
    batches = epoch_batches(lengths, 200, np.random.default_rng(0))
    assert sorted(index for batch in batches for index in batch) == list(range(300))
    assert all(len(batch) * max(lengths[i] for i in batch) <= 200 for batch in batches)
    assert batches != epoch_batches(lengths, 200, np.random.default_rng(1))


def test_data_is_read_by_fold_and_hashed(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": "x\u2028y", "fold": 1}\n\n{"a": "z", "fold": 9}\n')
    data = DataFolder(tmp_path)
    assert data.rows("rows.jsonl", range(7)) == [{"a": "x\u2028y", "fold": 1}]
    assert len(data.rows("rows.jsonl")) == 2
    assert len(data.hashes["rows.jsonl"]) == 64
    with pytest.raises(ResourceError, match="lacks other"):
        data.rows("other.jsonl")
    (tmp_path / "broken.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(ResourceError, match="cannot be read"):
        data.rows("broken.jsonl")
    with pytest.raises(ResourceError, match="no data folder"):
        DataFolder(tmp_path / "nowhere")
