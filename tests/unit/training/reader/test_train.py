"""Training of the reader at toy size: examples, targets, loss, and a run that beats shuffled labels."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base.adapters import save_adapter
from langgraph_evidence.models.base.bert import Bert, BertConfig
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.tokenizer import TextTokenizer
from langgraph_evidence.models.base.weights import find_base
from langgraph_evidence.models.reader.model import AdapterSpans, Reader
from langgraph_evidence.models.reader.windows import windows
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.base.options import TrainOptions
from langgraph_evidence.training.reader.alignment import align, places
from langgraph_evidence.training.reader.data import Example, ExampleMaker
from langgraph_evidence.training.reader.mixture import multihop_examples, real_examples
from langgraph_evidence.training.reader.single_passage import single_passage_examples, whole_passages
from langgraph_evidence.training.reader.start import new_adapter, started_adapter
from langgraph_evidence.training.reader.train import ReaderPlan, evaluate_reader, reader_loss, targets, train_reader

NAMES = "Ann Bob Cid Dan Eve Fay Gus Hal Ida Jon Kim Lea Max Nia Oto Pia".split()
COLOURS = "red blue green white black yellow brown pink".split()


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = BertConfig(30522, 64, 2, 4, 128, 512)
    return Encoder(Bert(config), TextTokenizer(find_base().tokenizer), "toy", precision="fp32")


def toy_rows(count: int, seed: int, *, shuffled: bool = False) -> Iterator[dict[str, Any]]:
    """Two gold paragraphs (a house has an owner, who likes a colour: the answer) and two distractors."""
    chooser = random.Random(seed)
    for number in range(count):
        owner, other = chooser.sample(NAMES, 2)
        liked = chooser.choice(COLOURS)
        told = chooser.choice([owner, liked, "likes", "belongs", "house"]) if shuffled else liked
        yield {
            "id": f"q{number}", "dataset": "hotpotqa", "fold": number % 8,
            "question": "What colour does the owner like?", "answer": told,
            "context": [
                ["House", [f"The house belongs to {owner}."]], [owner, [f"{owner} likes {liked}."]],
                ["Tree", ["A tree."]], [other, [f"{other} sleeps beside the tree."]],
            ],
            "gold_idx": [0, 1], "supporting_facts": [["House", 0], [owner, 0]],
        }  # fmt: skip


def toy_folder(path: Path, *, shuffled: bool = False) -> Path:
    folder = path / "multihop"
    folder.mkdir(parents=True)
    lines = [json.dumps(row) for row in toy_rows(80, 1, shuffled=shuffled)]
    (folder / "hotpotqa_dev.jsonl").write_text("\n".join(lines), "utf-8")
    return path


def test_a_row_gives_what_answers_and_what_does_not() -> None:
    row = next(toy_rows(1, 3))
    maker = ExampleMaker(0)
    whole = maker.complete(row, "HotpotQA", 1)
    assert (whole.kind, whole.answers, len(whole.passages), len(whole.gold)) == ("span", (row["answer"],), 3, 2)
    assert {whole.passages[place] for place in whole.gold} == {
        f"{title}: {texts[0]}" for title, texts in row["context"][:2]
    }
    left_out, replaced = (maker.incomplete(row, "HotpotQA", replaced=flag) for flag in (False, True))
    assert left_out is not None
    assert replaced is not None
    assert (left_out.kind, len(left_out.passages), replaced.kind, len(replaced.passages)) == ("none", 1, "none", 2)


def test_many_passages_are_no_sign_that_they_suffice() -> None:
    made = [example for row in toy_rows(20, 3) for example in multihop_examples(row, "HotpotQA", ExampleMaker(0))]
    longest = {kind: max(len(e.passages) for e in made if e.kind == kind) for kind in ("span", "none")}
    assert longest == {"span": 4, "none": 3}


def test_hops_are_filled_with_earlier_answers() -> None:
    row = {
        "context": [["House", ["The house belongs to Ann."]], ["Ann", ["Ann likes red."]], ["Bob", ["Bob sleeps."]]],
        "decomposition": [
            {"question": "House >> owner", "answer": "Ann", "support_idx": 0},
            {"question": "What does #1 like?", "answer": "red", "support_idx": 1},
        ],
    }
    asked = {(e.question, e.answers) for e in ExampleMaker(0).hops(row, "MuSiQue") if e.kind == "span"}
    assert asked == {("House >> owner", ("Ann",)), ("What does Ann like?", ("red",))}


@pytest.mark.parametrize(
    ("answer", "text", "wanted"),
    [
        ("red", "Fred likes red, not Red Hat", [(11, 14), (20, 23)]),
        ("the Beatles", "Beatles fans", [(0, 7)]),
        ("12 March 1954", "born March 12, 1954 in Rome", [(5, 19)]),
        ("March 12, 1954", "born 12 March 1954", [(5, 18)]),
        ("New York", "in New  York.", [(3, 12)]),
        ("green", "red", []),
        ("", "red", []),
    ],
)
def test_places_of_an_answer(answer: str, text: str, wanted: list[tuple[int, int]]) -> None:
    assert places(answer, text) == wanted


def test_an_answer_is_aligned_to_its_tokens_in_gold_passages_only(encoder: Encoder) -> None:
    passages = ("Ann: likes dark red", "Bob: dark red")
    (window,) = windows(encoder.tokenizer, "What?", passages)
    starts, ends = align(window, passages, ("dark red",), (0,))
    assert [window.tokens.offsets[place] for place in (*starts, *ends)] == [(11, 15), (16, 19)]
    assert [window.passages[place] for place in (*starts, *ends)] == [0, 0]
    assert align(window, passages, ("green",), ()) == ((), ())


def test_the_loss_is_the_likelihood_of_any_place_of_the_answer(encoder: Encoder) -> None:
    example = Example("HotpotQA", "What?", ("Ann: red or red",), "span", ("red",))
    unsure, no_answer = targets(encoder, [example, Example("QNLI", "What?", ("Ann: red",), "some")], 64)
    length = len(unsure.window.tokens)
    flat = torch.zeros(1, length)
    loss = reader_loss((flat, flat, torch.zeros(1, 4)), [unsure])
    assert float(loss) == pytest.approx(float(torch.log(torch.tensor(length / 2.0)) + torch.log(torch.tensor(4.0))))
    some = reader_loss((flat, flat, torch.zeros(1, 4)), [no_answer])
    assert float(some) == pytest.approx(float(torch.log(torch.tensor(4.0 / 3.0))))


def test_toy_training_lowers_the_loss_and_beats_shuffled_labels(encoder: Encoder, tmp_path: Path) -> None:
    options = TrainOptions(epochs=3, learning_rate=1e-2, batch_tokens=512, max_steps=40, measure_every=20)
    plan = ReaderPlan(layers=2, max_tokens=64)
    f1 = {}
    for name in ("true", "shuffled"):
        data = toy_folder(tmp_path / name, shuffled=name == "shuffled")
        out = tmp_path / f"run-{name}"
        result = train_reader(encoder, DataFolder(data), out, plan=plan, options=options)
        history = result.progress.history
        assert name == "shuffled" or history[-1]["loss"] < 0.8 * history[0]["loss"]
        reader = Reader.load(out / "reader.safetensors", encoder=encoder)
        table = evaluate_reader(toy_folder(tmp_path / f"{name}-measured"), [7], reader=reader, encoder=encoder)
        f1[name] = next(row["f1"] for row in table["rows"] if row["measure"] == "gold paragraphs: HotpotQA")
    results = json.loads((tmp_path / "run-true" / "results.json").read_text())
    assert results["head"] == "reader"
    assert {row["system"] for row in results["evaluation"]} >= {"reader", "majority", "similar sentence"}
    assert f1["true"] > f1["shuffled"] + 20


def test_low_rank_additions_become_layers_that_read_the_same(encoder: Encoder, tmp_path: Path) -> None:
    torch.manual_seed(0)
    trained = new_adapter(encoder, 4, frozen_layers=1)
    assert trained.lora is not None
    for name, values in trained.lora.b.items():
        if name.startswith("1_"):
            torch.nn.init.normal_(values, std=0.05)
    save_adapter(trained, tmp_path / "reader.safetensors")
    merged = started_adapter(encoder, new_adapter(encoder, layers=1), tmp_path / "reader.safetensors")
    asked = [("Who?", ["Ann: likes red", "Bob: sleeps"])]
    one, other = (
        Reader(AdapterSpans(encoder, adapter)).read_batch(asked, must_answer=True) for adapter in (trained, merged)
    )
    assert one[0].text == other[0].text
    assert one[0].score == pytest.approx(other[0].score, rel=0.02)


def test_layers_below_the_own_ones_cannot_be_merged(encoder: Encoder, tmp_path: Path) -> None:
    trained = new_adapter(encoder, 4)
    assert trained.lora is not None
    torch.nn.init.normal_(trained.lora.b["0_up"])
    save_adapter(trained, tmp_path / "reader.safetensors")
    with pytest.raises(InvalidInput, match="changes layer 0"):
        started_adapter(encoder, new_adapter(encoder, layers=1), tmp_path / "reader.safetensors")


def test_single_passages_are_cut_around_their_answer(tmp_path: Path) -> None:
    context = " ".join(f"Sentence {n} tells of thing{n}." for n in range(30))
    row = {
        "id": "s1", "dataset": "squad1.1", "title": "Some_page", "context": context, "question": "Which  thing?",
        "answers": ["thing20"], "answer_starts": [context.index("thing20")], "answerable": True, "fold": 1,
    }  # fmt: skip
    unanswerable = row | {"id": "s2", "answers": [], "answer_starts": [], "answerable": False}
    counted = row | {"id": "s3", "dataset": "drop", "answer_type": "number"}
    polar = row | {"id": "s4", "dataset": "boolq", "answers": ["no"], "answer_starts": [None]}
    (tmp_path / "reading").mkdir()
    files = {
        "squad1_dev": [row] * 30,
        "squad2_dev": [row, unanswerable],
        "drop_dev": [counted],
        "boolq_validation": [polar],
    }
    for name, rows in files.items():
        (tmp_path / "reading" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    made = list(single_passage_examples(DataFolder(tmp_path), {1}, 0))
    spans = [example for example in made if example.kind == "span"]
    assert len(spans) == 30
    assert {example.source for example in spans} == {"SQuAD"}
    assert all(example.question == "Which thing?" for example in spans)
    assert all("Some page: " in example.passages[-1] and "thing20" in " ".join(example.passages) for example in spans)
    assert all(len(example.passages[-1].split(". ")) <= 6 for example in spans)
    without = [example for example in made if example.kind == "none" and example.source == "SQuAD"]
    assert without
    assert all("thing20" not in example.passages[0] for example in without)
    assert [(e.source, e.kind) for e in made if e.source not in {"SQuAD"}] == [("SQuAD 2", "none"), ("BoolQ", "no")]
    whole = {example.source: example for example in whole_passages(DataFolder(tmp_path), {1}, 0, 5)}
    assert whole["SQuAD"].passages == (f"Some page: {context}",)


def test_folds_and_missing_data_sets(tmp_path: Path) -> None:
    folder = DataFolder(toy_folder(tmp_path))
    assert list(real_examples(folder, {9}, 0)) == []
    assert {example.source for example in real_examples(folder, {0}, 0)} == {"HotpotQA"}


def test_open_rows_take_their_passages_from_the_corpus(tmp_path: Path) -> None:
    for name in ("multihop", "passages"):
        (tmp_path / name).mkdir()
    rows = [
        {
            "id": f"q{n}", "dataset": "musique", "question": "What does the owner like?", "answer": "red", "fold": n,
            "gold_pids": [2 * n, 2 * n + 1],
            "decomposition": [{"question": "House >> owner", "answer": "Ann", "gold_pid": 2 * n}],
        }
        for n in (0, 7)
    ]  # fmt: skip
    pages = [{"pid": n, "title": f"Page {n}", "text": "Ann (born 3 May 1950) likes red."} for n in range(16)]
    for name, lines in (("multihop/musique_dev_open", rows), ("passages/wiki_passages", pages)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    made = list(real_examples(DataFolder(tmp_path), {0}, 0))
    assert {example.source for example in made} == {"MuSiQue"}
    assert "House >> owner" in {example.question for example in made}


def test_an_answer_is_taught_only_where_all_its_gold_is_in_the_window(encoder: Encoder) -> None:
    filler = "Tree: " + "a tall old tree " * 12
    whole, parted = (("House: of Ann", "Ann: likes red"), ("House: of Ann", filler, "Ann: likes red"))
    assert len(targets(encoder, [Example("HotpotQA", "What?", whole, "span", ("red",), (0, 1))], 56)) == 1
    assert len(targets(encoder, [Example("HotpotQA", "What?", parted, "span", ("red",), (2,))], 56)) == 1
    for kind in ("span", "yes"):
        assert targets(encoder, [Example("HotpotQA", "What?", parted, kind, ("red",), (0, 1, 2))], 56) == []
