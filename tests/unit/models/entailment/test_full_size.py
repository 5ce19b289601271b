"""Full-size models in tiny: their own label order, TRUE's protocol, and weights that would have to be unpickled."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.entailment.model import Entailment

WORDS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "0", "1", "premise", "hypothesis", ":", "a", "b", "c"]
PAIRS = [("a b c", "a"), ("b", "c"), ("a " * 2000, "b")]


def tokenizer(folder: Path, **special: str) -> None:
    fast = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    fast.pre_tokenizer = pre_tokenizers.Whitespace()
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"} | special
    transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **names).save_pretrained(folder)


def classifier(folder: Path, names: dict[int, str]) -> Path:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label=names, label2id={name: place for place, name in names.items()}, pad_token_id=3,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.bias.copy_(torch.arange(float(len(names))))
    model.save_pretrained(folder)
    tokenizer(folder)
    return folder


def test_a_classifiers_own_label_order_is_read(tmp_path: Path) -> None:
    model = Entailment.load(classifier(tmp_path, {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}))
    found = model.labels3(PAIRS)
    assert found.sum(1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert (found[:, 0] > found[:, 1]).all()
    assert (found[:, 1] > found[:, 2]).all()
    assert model.probabilities(PAIRS) == pytest.approx(found[:, 0])


def test_unnamed_labels_need_an_order_of_the_right_length(tmp_path: Path) -> None:
    folder = classifier(tmp_path, {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(InvalidInput, match="labels="):
        Entailment.load(folder)
    with pytest.raises(InvalidInput, match="2 outputs"):
        Entailment.load(folder, labels=("entailment", "neutral", "contradiction"))
    with pytest.raises(InvalidInput, match="entailment once"):
        Entailment.load(folder, labels=("neutral", "contradiction"))
    found = Entailment.load(folder, labels=("not_entailment", "entailment")).probabilities(PAIRS)
    turned = Entailment.load(folder, labels=("entailment", "not_entailment")).probabilities(PAIRS)
    assert found + turned == pytest.approx([1, 1, 1], abs=1e-5)
    assert (found > turned).all()


def test_a_t5_answers_one_or_zero(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=len(WORDS), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=3,
        pad_token_id=3, tie_word_embeddings=False,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    tokenizer(tmp_path)
    model = Entailment.load(tmp_path)
    together = model.probabilities(PAIRS)
    alone = [float(Entailment.load(tmp_path).probabilities([pair])[0]) for pair in PAIRS]
    assert together == pytest.approx(alone, abs=1e-5)
    assert ((together > 0) & (together < 1)).all()
    with pytest.raises(InvalidInput, match="labels="):
        Entailment.load(tmp_path, labels=("entailment", "neutral"))


def test_weights_that_need_unpickling_are_refused(tmp_path: Path) -> None:
    folder = classifier(tmp_path, {0: "entailment", 1: "not_entailment"})
    weights = folder / "model.safetensors"
    torch.save({"classifier.bias": torch.zeros(2)}, folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(ResourceError, match="safetensors"):
        Entailment.load(folder)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot be read as an entailment model"):
        Entailment.load(tmp_path)
