from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base import weights
from langgraph_evidence.models.base.batching import RowCache, content_key, token_batches
from langgraph_evidence.models.base.encoder import Encoder

TEXTS = [
    "the red film",
    "who wrote the king of the river?",
    "blue",
    "",
    "the dog was born in the city of the lion " * 9,
]


def test_the_hidden_states_are_those_of_transformers(base: Any, encoder: Any) -> None:
    from transformers import BertModel

    reference = BertModel.from_pretrained(str(base), add_pooling_layer=False).eval()
    inputs = encoder.tokenizer.pairs([("the red film", "who was it"), ("blue", "the cat is green of the river")], 32)
    batch = encoder.tokenizer.collate(inputs)
    with torch.inference_mode():
        expected = reference(
            input_ids=batch.ids, token_type_ids=batch.types, attention_mask=batch.mask.long()
        ).last_hidden_state
        found = encoder.hidden(batch)
    assert torch.allclose(found[batch.mask], expected[batch.mask], atol=1e-5)
    assert batch.types.sum() > 0


def test_vectors_have_length_one_and_do_not_depend_on_the_batch(encoder: Any, base: Any) -> None:
    together = encoder.encode(TEXTS)
    alone = np.concatenate([Encoder.load(base, precision="fp32").encode([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), 32)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together, alone, atol=1e-5)


def test_bfloat16_stays_close_to_float32(base: Any, encoder: Any) -> None:
    half = Encoder.load(base, precision="bf16", device="cpu")
    assert half.precision == "bf16"
    assert (encoder.encode(TEXTS) * half.encode(TEXTS)).sum(1).min() > 0.999


def test_nothing_gives_no_vectors_and_a_string_is_refused(encoder: Any) -> None:
    assert encoder.encode([]).shape == (0, 32)
    with pytest.raises(InvalidInput, match="sequence of texts"):
        encoder.encode("one text")


def test_equal_texts_are_computed_once(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    run = encoder.run

    def counting(inputs: Any, *rest: Any) -> Any:
        counted.append(len(inputs))
        return run(inputs, *rest)

    monkeypatch.setattr(encoder, "run", counting)
    first = encoder.encode(["red", "blue", "red"])
    second = encoder.encode(["blue", "green"])
    assert counted == [2, 1]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[1], second[0])


def test_threads_get_what_one_caller_gets(encoder: Any, base: Any) -> None:
    texts = [f"the {a} {b}" for a in ("red", "blue", "green") for b in ("cat", "dog", "lion", "film")]
    expected = Encoder.load(base, precision="fp32").encode(texts)
    found = {}

    def work(number: Any) -> None:
        found[number] = encoder.encode(texts[number:] + texts[:number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, vectors in found.items():
        assert np.allclose(np.roll(vectors, number, axis=0), expected, atol=1e-5)


def test_an_endless_text_is_cut(encoder: Any) -> None:
    long = "the king of the river " * 100_000
    assert encoder.encode([long]).shape == (1, 32)
    tokens = encoder.tokenizer.pairs([(long, "who was it")], 40)[0]
    assert len(tokens) == 40
    assert len(tokens) - tokens.second == 4  # the short part is whole: three words and [SEP]


def test_pairs_share_the_room_when_both_are_long(encoder: Any) -> None:
    tokens = encoder.tokenizer.pairs([("red " * 50, "blue " * 50)], 24)[0]
    assert (len(tokens), tokens.second) == (24, 13)
    assert tokens.offsets[1] == (0, 3)


@pytest.mark.parametrize("options", [{"device": "tpu"}, {"precision": "int4"}])
def test_unknown_options_are_refused(base: Any, options: Any) -> None:
    with pytest.raises(InvalidInput, match="not supported"):
        Encoder.load(base, **options)


def test_the_package_copy_is_checked_by_its_hash(
    make_base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_base(tmp_path / "altered")
    monkeypatch.setattr(weights, "_cached", lambda _: None)
    monkeypatch.setattr(weights, "_packaged", lambda: folder)
    with pytest.raises(ResourceError, match=weights.sha256_of(folder / "model.safetensors")):
        weights.find_base()


def test_a_cached_copy_that_is_another_gives_way_to_the_package(
    make_base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached, packaged = make_base(tmp_path / "cached", seed=1), make_base(tmp_path / "packaged")
    monkeypatch.setattr(weights, "_cached", lambda _: cached)
    monkeypatch.setattr(weights, "_packaged", lambda: packaged)
    monkeypatch.setattr(weights, "BASE_SHA256", weights.sha256_of(packaged / "model.safetensors"))
    assert weights.find_base().folder == packaged


@pytest.mark.parametrize("source", ["/nowhere/model", "nowhere", "../nowhere/model"])
def test_a_missing_folder_is_no_hub_id(source: Any) -> None:
    with pytest.raises(ResourceError, match="no model folder"):
        weights.find_base(source)


def _truncate(folder: Any) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def _drop_config(folder: Any) -> None:
    (folder / "config.json").unlink()


def _other_model(folder: Any) -> None:
    (folder / "config.json").write_text('{"model_type": "llama"}')


def _other_shape(folder: Any) -> None:
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(text.replace('"hidden_size": 32', '"hidden_size": 48'))


def _no_tokenizer(folder: Any) -> None:
    (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_truncate, "truncated"),
        (_drop_config, "lacks config.json"),
        (_other_model, "llama"),
        (_other_shape, "do not fit"),
        (_no_tokenizer, "not a tokenizer"),
    ],
)
def test_a_damaged_folder_says_what_is_wrong(make_base: Any, tmp_path: Path, damage: Any, words: Any) -> None:
    folder = make_base(tmp_path / "base")
    damage(folder)
    with pytest.raises(ResourceError, match=words):
        Encoder.load(folder)


def test_token_batches_hold_the_budget_and_every_index_once() -> None:
    lengths = [5, 100, 7, 3, 50, 50, 1]
    groups = list(token_batches(lengths, 120))
    assert sorted(index for group in groups for index in group) == list(range(7))
    assert groups[0] == [1]
    assert all(len(group) == 1 or len(group) * max(lengths[i] for i in group) <= 120 for group in groups)


def test_the_cache_forgets_what_was_unused_longest() -> None:
    cache = RowCache(2)
    rows = {name: np.full(1, ord(name), dtype=np.float32) for name in "abc"}
    cache.put(b"a", rows["a"])
    cache.put(b"b", rows["b"])
    assert cache.get(b"a") is not None
    cache.put(b"c", rows["c"])
    assert cache.get(b"b") is None
    assert cache.get(b"a") is not None


def test_content_keys_keep_the_parts_apart() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key("a\ud800") == content_key("a\ud800")
