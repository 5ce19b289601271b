"""Training of the entailment head at toy size: pairs, mixture, loss, and a run that beats shuffled labels."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.base.bert import Bert, BertConfig
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.tokenizer import TextTokenizer
from langgraph_evidence.models.base.weights import find_base
from langgraph_evidence.models.entailment.model import Entailment
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.base.options import TrainOptions
from langgraph_evidence.training.entailment.data import NliPair, derived_pairs, natural_pairs, swap_detail
from langgraph_evidence.training.entailment.evaluate import entailment_table
from langgraph_evidence.training.entailment.train import (
    EntailmentOptions,
    balance,
    mixture,
    pair_losses,
    train_entailment,
)

NAMES = "Ann Bob Cid Dan Eve Fay Gus Hal Ida Jon Kim Lea".split()
OPTIONS = EntailmentOptions(rank=4, inner=32, steps=40, group=24)
LOOP = TrainOptions(epochs=1, learning_rate=3e-3, measure_every=20)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(
        Bert(BertConfig(30522, 32, 1, 2, 64, 512)), TextTokenizer(find_base().tokenizer), "toy", precision="fp32"
    )


def toy_folder(path: Path, *, shuffled: bool = False) -> Path:
    """Somebody owns something; the hypothesis says so of the same or another one."""
    chooser = random.Random(5)
    for source in ("fm2", "snli"):
        rows = []
        for number in range(160):
            owner, other = chooser.sample(NAMES, 2)
            told = chooser.choice([owner, other])
            label = "entailment" if told == owner else "contradiction"
            if shuffled:
                label = chooser.choice(["entailment", "contradiction"])
            rows.append({
                "premise": f"{owner} owns house {number}.", "hypothesis": f"The house belongs to {told}.",
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
    assert learnt.metrics["score"] > 0.9
    assert learnt.metrics["score"] > control.metrics["score"] + 0.2
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert sorted(results["data"]) == ["nli/fm2.jsonl", "nli/snli.jsonl"]
    card = json.loads((tmp_path / "out" / "entailment.json").read_text())
    assert "SNLI" in card["details"]["caution"]
    assert "CC BY-SA" in card["details"]["licences"]

    model = Entailment.load(tmp_path / "out" / "entailment.safetensors", encoder=encoder)
    rows = entailment_table(model, DataFolder(data), encoder, folds=[7])
    assert [row["source"] for row in rows] == ["snli", "fm2", "mean"]
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
        options=replace(OPTIONS, steps=2, start=tmp_path / "first" / "entailment.safetensors"),
        loop=replace(LOOP, learning_rate=1e-6, average=0.5),
    )
    assert further.progress.step == 2
    assert further.metrics["score"] == pytest.approx(first.metrics["score"], abs=0.05)


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


def test_a_swapped_detail_is_no_longer_in_the_premise() -> None:
    premise = "Ann Lee met Bob Ray in Rome in 1950. They left in 1960."
    rng = random.Random(0)
    changed = {swap_detail(premise, "Ann Lee met Bob Ray in 1950.", rng) for _ in range(60)}
    assert {"Ann Lee met Bob Ray in 1960.", "Rome met Bob Ray in 1950.", "Bob Ray met Ann Lee in 1950."} <= changed
    assert "Ann Lee met Bob Ray in 1950." not in changed
    assert swap_detail("nothing here", "nothing there", rng) is None


def test_derived_pairs_come_with_the_labels_they_deserve(tmp_path: Path) -> None:
    folder = DataFolder(toy_folder(tmp_path))
    hover = NliPair(
        "hover", "Ann was born in Rome in 1950. Bob was born in Oslo.", "Ann was born in Rome.", "entailment"
    )
    made = derived_pairs(folder, [hover, replace(hover, premise="Kim sang.", label="not_entailment")], seed=1)
    assert made
    assert all(pair.derived for pair in made)
    dropped = [pair for pair in made if pair.premise == "Bob was born in Oslo."]
    assert [pair.label for pair in dropped] == ["not_entailment"]
    assert all(not pair.entailed for pair in made if pair.hypothesis != hover.hypothesis)


def test_small_sources_get_more_than_their_share_and_none_is_repeated_early() -> None:
    pairs = [NliPair("snli", str(place), "h", "neutral") for place in range(900)]
    pairs += [NliPair("wice", str(place), "h", "neutral") for place in range(100)]
    drawn = mixture(pairs, replace(OPTIONS, steps=10, group=100, evenness=0.5), random.Random(0))
    wice = [index for index in drawn if pairs[index].source == "wice"]
    assert len(drawn) == 1000
    assert 200 < len(wice) < 300
    assert len(set(wice[:100])) == 100


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
