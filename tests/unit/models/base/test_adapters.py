from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, PairModel, load_adapter, save_adapter
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.pairs import open_pair_model

PAIRS = [("who was it", "the red king"), ("what", "the river of the city"), ("who was it", "blue")]


def trained(encoder: Any, head: Any = "toy", seed: Any = 0) -> Any:
    torch.manual_seed(seed)
    adapter = Adapter(encoder, AdapterSpec(head, encoder.sha256, 4, ("no", "yes"), 32))
    with torch.no_grad():
        for value in adapter.parameters():
            value.add_(torch.randn_like(value) * 0.1)
    return adapter


@pytest.fixture
def saved(encoder: Any, tmp_path: Path) -> Any:
    path = tmp_path / "toy.safetensors"
    save_adapter(trained(encoder), path)
    return path


def test_a_saved_adapter_scores_as_before(encoder: Any, saved: Any) -> None:
    expected = PairModel(encoder, trained(encoder)).logits(PAIRS)
    found = PairModel(encoder, load_adapter(encoder, saved, "toy", labels=("no", "yes"))).logits(PAIRS)
    assert found.shape == (3, 2)
    assert np.allclose(found, expected, atol=1e-2)  # stored as float16


def test_adapters_share_one_base_and_leave_it_as_it_was(encoder: Any) -> None:
    before = encoder.encode(["the red film"])
    first, second = PairModel(encoder, trained(encoder)), PairModel(encoder, trained(encoder, seed=1))
    a, b = first.logits(PAIRS), second.logits(PAIRS)
    encoder.cache = type(encoder.cache)(10)
    assert not np.allclose(a, b)
    assert np.array_equal(encoder.encode(["the red film"]), before)
    assert np.array_equal(first.logits(PAIRS), a)


def test_an_adapter_is_small_beside_the_base(encoder: Any) -> None:
    base = sum(value.numel() for value in encoder.bert.parameters())
    assert sum(value.numel() for value in trained(encoder).parameters()) < base / 3
    assert not any(value.requires_grad for value in encoder.bert.parameters())


def test_no_pairs_give_no_rows(encoder: Any) -> None:
    assert PairModel(encoder, trained(encoder)).logits([]).shape == (0, 2)


def test_an_over_long_pair_is_cut(encoder: Any) -> None:
    assert PairModel(encoder, trained(encoder)).logits([("red " * 10_000, "blue " * 10_000)]).shape == (1, 2)


def test_the_wrong_task_or_labels_are_refused(encoder: Any, saved: Any) -> None:
    with pytest.raises(ResourceError, match="'toy'; 'other' is needed"):
        load_adapter(encoder, saved, "other")
    with pytest.raises(ResourceError, match="label map"):
        load_adapter(encoder, saved, "toy", labels=("yes", "no"))


def test_an_adapter_of_another_base_is_refused(make_base: Any, tmp_path: Path, saved: Any) -> None:
    other = Encoder.load(make_base(tmp_path / "other", seed=3), precision="fp32")
    with pytest.raises(ResourceError, match="has base"):
        load_adapter(other, saved, "toy")


def _truncate(path: Any) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _flip(path: Any) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def _remove(path: Any) -> None:
    path.unlink()


def _other_format(path: Any) -> None:
    save_file(load_file(path), path, metadata={"format": "something"})


def _rewrite(path: Any, change_spec: Any = None, change_tensors: Any = None) -> None:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    spec, tensors = json.loads(metadata["adapter"]), load_file(path)
    (change_spec or (lambda _: None))(spec)
    (change_tensors or (lambda _: None))(tensors)
    path.with_suffix(".json").unlink()
    save_file(tensors, path, metadata={**metadata, "adapter": json.dumps(spec)})


def _huge_rank(path: Any) -> None:
    _rewrite(path, change_spec=lambda spec: spec.update(rank=10**9))


def _other_rank(path: Any) -> None:
    _rewrite(path, change_spec=lambda spec: spec.update(rank=8))


def _no_labels(path: Any) -> None:
    _rewrite(path, change_spec=lambda spec: spec.pop("labels"))


def _too_long(path: Any) -> None:
    _rewrite(path, change_spec=lambda spec: spec.update(max_tokens=512))


def _not_finite(path: Any) -> None:
    _rewrite(path, change_tensors=lambda tensors: tensors["head.output.bias"].fill_(float("nan")))


def _missing_tensor(path: Any) -> None:
    _rewrite(path, change_tensors=lambda tensors: tensors.pop("head.output.bias"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_truncate, "truncated"),
        (_flip, "sha256"),
        (_remove, "missing"),
        (_other_format, "has format"),
        (_huge_rank, "impossible"),
        (_other_rank, "does not fit"),
        (_no_labels, "does not describe itself"),
        (_too_long, "has room for 128"),
        (_not_finite, "not finite"),
        (_missing_tensor, "does not fit"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(encoder: Any, saved: Any, damage: Any, words: Any) -> None:
    damage(saved)
    with pytest.raises(ResourceError, match=words):
        load_adapter(encoder, saved, "toy")


def test_a_full_size_model_takes_the_place_of_an_adapter(tmp_path: Path, base: Any) -> None:
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    config = BertConfig.from_pretrained(str(base), num_labels=1)
    torch.manual_seed(0)
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path / "full")
    tokenizer = BertTokenizerFast(
        tokenizer_file=str(base / "tokenizer.json"), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    tokenizer.save_pretrained(tmp_path / "full")
    opened = open_pair_model("sentence_ranker", tmp_path / "full", labels=("relevant",))
    found = opened.logits(PAIRS)
    batch = tokenizer([a for a, _ in PAIRS], [b for _, b in PAIRS], padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = model(**batch).logits.numpy()
    assert np.allclose(found, expected, atol=1e-5)
    with pytest.raises(ResourceError, match="needs 2"):
        open_pair_model("entailment", tmp_path / "full", labels=("no", "yes"))


def test_a_full_size_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResourceError, match="safetensors"):
        open_pair_model("sentence_ranker", tmp_path / "empty", labels=("relevant",))


def test_the_spec_is_kept_with_the_weights(encoder: Any, tmp_path: Path) -> None:
    adapter = trained(encoder)
    adapter.spec = replace(adapter.spec, details={"data": {"a.jsonl": "00"}})
    save_adapter(adapter, tmp_path / "toy.safetensors")
    assert load_adapter(encoder, tmp_path / "toy.safetensors", "toy").spec == adapter.spec


def with_layers(encoder: Any, layers: int) -> Any:
    torch.manual_seed(0)
    adapter = Adapter(encoder, AdapterSpec("toy", encoder.sha256, 0, ("no", "yes"), 32, {}, layers))
    with torch.no_grad():
        for value in adapter.parameters():
            value.add_(torch.randn_like(value) * 0.1)
    return adapter


def test_layers_of_its_own_serve_the_task_and_leave_the_base_as_it_was(encoder: Any, tmp_path: Path) -> None:
    before = encoder.encode(["the red film"])
    expected = PairModel(encoder, with_layers(encoder, 1)).logits(PAIRS)
    path = tmp_path / "toy.safetensors"
    save_adapter(with_layers(encoder, 1), path)
    found = PairModel(encoder, load_adapter(encoder, path, "toy")).logits(PAIRS)
    assert np.allclose(found, expected, atol=2e-2)  # stored as float16
    untouched = Adapter(encoder, AdapterSpec("toy", encoder.sha256, 0, ("no", "yes"), 32))
    untouched.head.load_state_dict(load_adapter(encoder, path, "toy").head.state_dict())
    assert not np.allclose(PairModel(encoder, untouched).logits(PAIRS), found, atol=5e-2)
    encoder.cache = type(encoder.cache)(10)
    assert np.array_equal(encoder.encode(["the red film"]), before)


def test_more_layers_than_the_base_has_are_refused(encoder: Any, tmp_path: Path) -> None:
    path = tmp_path / "toy.safetensors"
    adapter = with_layers(encoder, 1)
    adapter.spec = replace(adapter.spec, layers=9)
    save_adapter(adapter, path)
    with pytest.raises(ResourceError, match="brings 9 layers"):
        load_adapter(encoder, path, "toy")
