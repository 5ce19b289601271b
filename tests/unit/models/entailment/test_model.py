"""One interface over entailment models: shapes, cache, errors, the adapter file."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models import default_encoder
from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, save_adapter
from langgraph_evidence.models.entailment.head import MAX_TOKENS, OUTPUTS, label_logits
from langgraph_evidence.models.entailment.labels import read_labels
from langgraph_evidence.models.entailment.model import Entailment


class Scorer:
    """Entailed as far as the hypothesis is long; counts what it computes."""

    def __init__(self, labels: tuple[str, ...] = ("contradiction", "entailment", "neutral")) -> None:
        self.labels = labels
        self.computed: list[tuple[str, str]] = []

    def logits(self, pairs: Any) -> Any:
        self.computed.extend(pairs)
        sure = np.array([[min(0.9, len(text) / 10)] for _, text in pairs], dtype=np.float32)
        rows = np.repeat((1 - sure) / (len(self.labels) - 1), len(self.labels), axis=1)
        rows[:, 1:2] = sure
        return np.log(rows)


def adapter_file(folder: Path, labels: tuple[str, ...] = OUTPUTS, **details: object) -> Path:
    encoder = default_encoder()
    torch.manual_seed(0)
    spec = AdapterSpec("entailment", encoder.sha256, 0, labels, MAX_TOKENS, {"threshold": 0.4} | details, layers=1)
    path = folder / "entailment.safetensors"
    save_adapter(Adapter(encoder, spec), path)
    return path


def test_columns_follow_the_models_own_label_order() -> None:
    model = Entailment(Scorer())
    assert model.probabilities([("p", "abcde")]).tolist() == pytest.approx([0.5])
    assert model.labels3([("p", "abcde")])[0].tolist() == pytest.approx([0.5, 0.25, 0.25])


def test_each_pair_is_computed_once_and_order_is_kept() -> None:
    scorer = Scorer()
    model = Entailment(scorer)
    first = model.probabilities([("p", "abc"), ("p", "a"), ("p", "abc")])
    second = model.probabilities([("p", "a"), ("q", "a")])
    assert first.tolist() == pytest.approx([0.3, 0.1, 0.3])
    assert second.tolist() == pytest.approx([0.1, 0.1])
    assert sorted(scorer.computed) == [("p", "a"), ("p", "abc"), ("q", "a")]


def test_no_pairs_are_no_work() -> None:
    scorer = Scorer()
    assert Entailment(scorer).probabilities([]).shape == (0,)
    assert Entailment(scorer).labels3([]).shape == (0, 3)
    assert scorer.computed == []


@pytest.mark.parametrize("given", [[("p", "")], [("p", "  ")], ["ab"], [("a", "b", "c")], [("p", 3)]])
def test_what_is_not_a_pair_of_texts_is_refused(given: list[Any]) -> None:
    with pytest.raises(InvalidInput):
        Entailment(Scorer()).probabilities(given)


def test_a_model_without_entailment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="labels="):
        Entailment(Scorer(("a", "b")))


def test_a_two_way_model_has_no_third_label() -> None:
    model = Entailment(Scorer(("not_entailment", "entailment")))
    with pytest.raises(InvalidInput, match="probabilities"):
        model.labels3([("p", "h")])


def test_a_model_that_gives_no_numbers_is_an_error() -> None:
    class Broken(Scorer):
        def logits(self, pairs: Any) -> Any:
            return np.full((len(pairs), 3), np.nan, dtype=np.float32)

    with pytest.raises(ResourceError):
        Entailment(Broken()).probabilities([("p", "h")])


def test_threads_share_one_model() -> None:
    scorer = Scorer()
    model = Entailment(scorer)
    pairs = [("p", "x" * (1 + place % 9)) for place in range(200)]
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(model.probabilities(pairs))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((row == found[0]).all() for row in found)
    assert len(scorer.computed) == 9


def test_an_adapter_file_is_a_model(tmp_path: Path) -> None:
    model = Entailment.load(adapter_file(tmp_path))
    pairs = [
        ("Ada was born in 1815.", "Ada was born."),
        ("Ada was born.", "Who was born?"),
        ("word " * 20_000, "A word."),
    ]
    found = model.labels3(pairs)
    assert model.threshold == 0.4
    assert found.shape == (3, 3)
    assert found.sum(1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert found[1, 2] == 0.0
    one_by_one = np.concatenate([Entailment.load(adapter_file(tmp_path)).probabilities([pair]) for pair in pairs])
    assert model.probabilities(pairs) == pytest.approx(one_by_one, abs=0.02)


def test_every_pair_is_read_once_and_nothing_else_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = default_encoder()
    read: list[int] = []
    run = type(encoder).run

    def counted(self: Any, inputs: Any, head: Any, change: Any = None) -> Any:
        read.extend(len(tokens) for tokens in inputs)
        return run(self, inputs, head, change)

    monkeypatch.setattr(type(encoder), "run", counted)
    model = Entailment.load(adapter_file(tmp_path))
    long = " ".join(f"Sentence {place} is here." for place in range(200))
    model.probabilities([("Ada was born.", "Ada lived."), (long, "Ada lived."), ("Ada was born.", "Ada lived.")])
    assert len(read) == 2
    assert min(read) < 20
    assert 100 < max(read) <= MAX_TOKENS
    model.probabilities([(long, "Ada lived.")])
    assert len(read) == 2


def test_a_wrong_label_map_or_threshold_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="label map"):
        Entailment.load(adapter_file(tmp_path, labels=("contradiction", "neutral", "entailment", "answers")))
    with pytest.raises(ResourceError, match="threshold"):
        Entailment.load(adapter_file(tmp_path, threshold=2.0))
    with pytest.raises(InvalidInput, match="labels"):
        Entailment.load(adapter_file(tmp_path), labels=("entailment", "neutral", "contradiction"))


def test_a_missing_truncated_or_altered_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="missing"):
        Entailment.load(tmp_path / "none.safetensors")
    path = adapter_file(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ResourceError):
        Entailment.load(path)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ResourceError, match="sha256"):
        Entailment.load(path)


def test_a_question_is_read_from_its_own_output() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 20.0], [20.0, 0.0, 0.0, -20.0]])
    found = label_logits(logits, torch.tensor([True, False])).softmax(-1)
    assert found[0].tolist() == pytest.approx([1, 0, 0], abs=1e-6)
    assert found[1].tolist() == pytest.approx([1, 0, 0], abs=1e-6)


def test_label_names_are_read_whatever_their_spelling() -> None:
    assert read_labels(["CONTRADICTION", "Neutral", "Entailment"]) == ("contradiction", "neutral", "entailment")
    assert read_labels(["not_entailment", "entailment"]) == ("not_entailment", "entailment")
    for names in (["LABEL_0", "LABEL_1"], ["neutral", "contradiction"], ["entailment", "entails"]):
        with pytest.raises(InvalidInput):
            read_labels(names)


def test_the_shipped_head_tells_clear_cases_apart() -> None:
    model = Entailment.load()
    premise = "Marie Curie was born in Warsaw in 1867. She won the Nobel Prize in Physics in 1903."
    pairs = [
        (premise, "Marie Curie was born in Warsaw."),
        (premise, "Marie Curie was born in Paris."),
        ("A man is playing a guitar on a stage.", "A man is playing an instrument."),
        ("A man is playing a guitar on a stage.", "A man is sleeping."),
        (premise, "Where was Marie Curie born?"),
        (premise, "How tall is the Eiffel Tower?"),
    ]
    yes_1, no_1, yes_2, no_2, yes_3, no_3 = model.probabilities(pairs)
    assert yes_1 > no_1
    assert yes_2 > model.threshold > no_2
    assert yes_3 > model.threshold > no_3
    card = json.loads((Path(__file__).parents[4] / "src/langgraph_evidence/models/weights/entailment.json").read_text())
    assert "SNLI" in card["details"]["caution"]
