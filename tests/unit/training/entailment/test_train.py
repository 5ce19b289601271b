"""Training of the entailment head at toy size: pairs, mixture, loss, and a run that beats shuffled labels."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, save_adapter
from langgraph_evidence.models.base.bert import Bert, BertConfig
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.tokenizer import TextTokenizer
from langgraph_evidence.models.base.weights import find_base
from langgraph_evidence.models.entailment.head import OUTPUTS
from langgraph_evidence.models.entailment.model import Entailment
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.base.options import TrainOptions
from langgraph_evidence.training.entailment.data import CHANGED, natural_pairs
from langgraph_evidence.training.entailment.evaluate import entailment_table
from langgraph_evidence.training.entailment.mixture import SHARES, balance, limited, mixture
from langgraph_evidence.training.entailment.options import EntailmentOptions
from langgraph_evidence.training.entailment.pairs import NliPair
from langgraph_evidence.training.entailment.questions import ANSWERS
from langgraph_evidence.training.entailment.train import (
    pair_losses,
    start_from,
    train_entailment,
)

NAMES = "Ann Bob Cid Dan Eve Fay Gus Hal Ida Jon Kim Lea".split()
OPTIONS = EntailmentOptions(layers=1, frozen=0, pairs=1500)
LOOP = TrainOptions(epochs=1, learning_rate=3e-3, batch_tokens=512, measure_every=20)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.manual_seed(0)
    bert = Bert(BertConfig(30522, 32, 1, 2, 64, 512)).eval()
    return Encoder(bert, TextTokenizer(find_base().tokenizer), "toy", precision="fp32")


def toy_folder(path: Path, *, shuffled: bool = False) -> Path:
    """Somebody owns something; the hypothesis says so or denies it."""
    chooser = random.Random(5)
    for source in ("fm2", "snli"):
        rows = []
        for number in range(160):
            owner, told = chooser.choice(NAMES), chooser.choice(["Surely a", "Sadly no"])
            label = "entailment" if told == "Surely a" else "contradiction"
            if shuffled:
                label = chooser.choice(["entailment", "contradiction"])
            rows.append({
                "premise": f"{owner} owns house {number}.", "hypothesis": f"{told} house is owned by {owner} {number}.",
                "label": label, "fold": number % 8,
            })  # fmt: skip
        (path / "nli").mkdir(parents=True, exist_ok=True)
        (path / "nli" / f"{source}.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_a_toy_run_learns_and_beats_shuffled_labels(tmp_path: Path, encoder: Encoder) -> None:
    data = toy_folder(tmp_path / "data")
    learnt = train_entailment(encoder, DataFolder(data), tmp_path / "out", options=OPTIONS, loop=LOOP)
    control = train_entailment(
        encoder,
        DataFolder(toy_folder(tmp_path / "shuffled", shuffled=True)),
        tmp_path / "control",
        options=OPTIONS,
        loop=LOOP,
    )
    history = learnt.progress.history
    assert history[-1]["loss"] < history[0]["loss"]
    assert learnt.metrics["fm2"] > 0.9
    assert learnt.metrics["fm2"] > control.metrics["fm2"] + 0.2
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert sorted(results["data"]) == ["nli/fm2.jsonl", "nli/snli.jsonl"]
    card = json.loads((tmp_path / "out" / "entailment.json").read_text())
    assert "SNLI" in card["details"]["caution"]
    assert "CC BY-SA" in card["details"]["licences"]

    model = Entailment.load(tmp_path / "out" / "entailment.safetensors", encoder=encoder)
    rows = entailment_table(model, DataFolder(data), encoder, folds=[7])
    assert [row["source"] for row in rows] == [
        "snli", "fm2", f"claims, {CHANGED}", "mean of the claims", "mean of the others",
    ]  # fmt: skip
    for row in rows[:2]:
        assert row["balanced_accuracy_low"] <= row["balanced_accuracy"] <= row["balanced_accuracy_high"]
        assert row["baselines"]["majority"]["balanced_accuracy"] == 0.5
        best = max(max(base["balanced_accuracy"], base["own_threshold"]) for base in row["baselines"].values())
        assert row["gain"] == pytest.approx(row["balanced_accuracy"] - best)


def test_a_run_goes_on_from_given_weights(tmp_path: Path, encoder: Encoder) -> None:
    data = toy_folder(tmp_path / "data")
    first = train_entailment(encoder, DataFolder(data), tmp_path / "first", options=OPTIONS, loop=LOOP)
    further = train_entailment(
        encoder,
        DataFolder(data),
        tmp_path / "further",
        options=replace(OPTIONS, pairs=40, start=tmp_path / "first" / "entailment.safetensors"),
        loop=replace(LOOP, learning_rate=1e-6, average=0.5),
    )
    assert further.progress.step < 5
    assert further.metrics["score"] == pytest.approx(first.metrics["score"], abs=0.05)


def test_layers_start_from_the_sum_of_base_and_low_rank_additions(tmp_path: Path, encoder: Encoder) -> None:
    spec = AdapterSpec("entailment", encoder.sha256, 2, OUTPUTS, 64)
    added = Adapter(encoder, spec).eval()
    assert added.lora is not None
    for value in added.lora.b.values():
        torch.nn.init.normal_(value, std=0.1)
    save_adapter(added, tmp_path / "added.safetensors")
    own = Adapter(encoder, replace(spec, rank=0, layers=1)).eval()
    start_from(own, tmp_path / "added.safetensors")
    batch = encoder.tokenizer.collate(encoder.tokenizer.pairs([("A cat is red.", "It is red.")], 64))
    with torch.no_grad():
        expected, found = (encoder.hidden(batch, adapter.change) for adapter in (added, own))
    assert torch.allclose(found, expected, atol=2e-2)
    assert not torch.allclose(encoder.hidden(batch), expected, atol=2e-2)
    with pytest.raises(InvalidInput, match="other parameters"):
        start_from(Adapter(encoder, replace(spec, rank=4)), tmp_path / "added.safetensors")


def test_only_the_folds_asked_for_are_read(tmp_path: Path) -> None:
    folder = DataFolder(toy_folder(tmp_path))
    assert len(natural_pairs(folder, [7])) == 40
    assert len(natural_pairs(folder, range(7))) == 280


def test_missing_data_and_unknown_labels_are_errors(tmp_path: Path) -> None:
    (tmp_path / "nli").mkdir()
    with pytest.raises(ResourceError, match="nli"):
        natural_pairs(DataFolder(tmp_path), [0])
    row = {"premise": "p", "hypothesis": "h", "label": "maybe", "fold": 0}
    (tmp_path / "nli" / "snli.jsonl").write_text(json.dumps(row))
    with pytest.raises(ResourceError, match="maybe"):
        natural_pairs(DataFolder(tmp_path), [0])


def test_small_sources_get_more_than_their_share_and_none_is_repeated_early() -> None:
    pairs = [NliPair("snli", str(place), "h", "neutral") for place in range(900)]
    pairs += [NliPair("wice", str(place), "h", "neutral") for place in range(100)]
    drawn = mixture(pairs, replace(OPTIONS, pairs=1000, evenness=0.5), random.Random(0))
    wice = [index for index in drawn if pairs[index].source == "wice"]
    assert len(drawn) == 1000
    assert 200 < len(wice) < 300
    assert len(set(wice[:100])) == 100


def test_families_of_sources_have_shares_of_their_own() -> None:
    pairs = [NliPair("snli", str(place), "h", "neutral") for place in range(10)]
    pairs += [NliPair(f"SQuAD{ANSWERS}", str(place), "h", "neutral") for place in range(1000)]
    drawn = mixture(pairs, replace(OPTIONS, pairs=2000), random.Random(0))
    told = sum(pairs[index].source.endswith(ANSWERS) for index in drawn) / len(drawn)
    assert told == pytest.approx(SHARES[ANSWERS] / (SHARES[ANSWERS] + SHARES[""]), abs=0.04)


def test_a_sample_has_as_many_of_both_as_there_are() -> None:
    pairs = [NliPair("wice", str(place), "h", "neutral" if place else "entailment") for place in range(50)]
    kept = limited(pairs, 5, seed=0)
    assert sum(pair.entailed for pair in kept) == 1
    assert len(kept) == 6
    assert kept == limited(pairs, 5, seed=0)


def test_entailed_and_other_pairs_weigh_the_same() -> None:
    pairs = [NliPair("wice", "p", "h", "entailment")] * 2 + [NliPair("wice", "p", "h", "not_entailment")] * 6
    weights = balance(pairs)
    assert sum(weights[:2]) == pytest.approx(sum(weights[2:])) == pytest.approx(4.0)


def test_losses_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2, 1.0]]).repeat(4, 1))
    labels, asks = torch.tensor([0, 3, 1, 0]), torch.tensor([False, False, False, True])
    found = pair_losses(logits, labels, asks, fine=0.5)
    log = torch.log(torch.tensor([0.5, 0.3]))
    # Entailed; not entailed is 0.3 + 0.2; neutral is half of that and half its own; sigmoid(log 1) answers.
    expected = [-log[0], -log[0], -(log[0] + log[1]) / 2, -log[0]]
    assert found.tolist() == pytest.approx([float(value) for value in expected], abs=1e-6)


def test_a_source_keeps_all_its_labels(tmp_path: Path) -> None:
    pairs = natural_pairs(DataFolder(toy_folder(tmp_path)), range(8))
    assert Counter(pair.source for pair in pairs) == {"snli": 160, "fm2": 160}
