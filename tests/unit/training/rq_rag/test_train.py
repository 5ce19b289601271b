"""The fine-tuning with a tiny network: it learns, keeps its best, resumes, and gives an adapter that peft reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from rq_rag_data import BRIDGE, COMPARISON, written
from safetensors.torch import load_file
from tiny_causal import tiny_causal
from transformers import AutoModelForCausalLM, AutoTokenizer

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.methods.rq_rag.protocol import PAPER, SMOLLM2
from langgraph_evidence.training.rq_rag import FineTuneOptions, fine_tune, read_records, train_rq_rag
from langgraph_evidence.training.rq_rag.examples import Encoder, ExampleOptions
from langgraph_evidence.training.rq_rag.openings import open_base
from langgraph_evidence.training.rq_rag.packing import packed

# What peft asks transformers when an adapter is read.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
HOW = {
    "rank": "4", "learning_rate": "1e-2", "epochs": "6", "accumulate": "1", "batch_tokens": "600", "threads": "1",
    "measure_every": "4", "datasets": "HotpotQA,2Wiki,MuSiQue", "passages": "2",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_causal(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def trained(base: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    train_rq_rag(data, out, base=str(base), given=HOW, device="cpu")
    return out


def loss_of(model: Any, base: Path, out: Path) -> float:
    records = [record for record in read_records(out / "records.jsonl") if record["fold"] == 7]
    encoder = Encoder(AutoTokenizer.from_pretrained(base), SMOLLM2, ExampleOptions())
    with torch.no_grad():
        return float(model.eval()(**packed(encoder.examples(records))).loss)


def test_the_loss_falls_and_the_best_is_kept_as_an_adapter(trained: Path, base: Path) -> None:
    history = json.loads((trained / "course.json").read_text())["history"]
    card = json.loads((trained / "rq_rag/card.json").read_text())
    best = min(history, key=lambda entry: entry["loss"])
    assert card["fold_7"] == best
    assert len(history) > 2
    untrained = AutoModelForCausalLM.from_pretrained(base)
    before = loss_of(untrained, base, trained)
    after = loss_of(PeftModel.from_pretrained(untrained, trained / "rq_rag"), base, trained)
    assert after < before - 0.1
    assert after == pytest.approx(best["loss"], abs=0.01)  # half precision moves it by no more


def test_the_folder_holds_an_adapter_in_half_precision_and_a_card(trained: Path, base: Path) -> None:
    folder = trained / "rq_rag"
    assert {path.name for path in folder.iterdir()} == {"adapter_config.json", "adapter_model.safetensors", "card.json"}
    assert {value.dtype for value in load_file(folder / "adapter_model.safetensors").values()} == {torch.float16}
    card = json.loads((folder / "card.json").read_text())
    assert (
        card["base"] == str(base) == json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]
    )
    assert card["options"]["seed"] == 0
    assert card["datasets"] == ["2Wiki", "HotpotQA", "MuSiQue"]
    assert card["control_tokens"]["answer"] == SMOLLM2.answer
    assert card["learned_tokens"] < card["tokens"]


def test_fold_7_is_measured_and_never_learned(data: Path, base: Path, tmp_path: Path) -> None:
    only = written(tmp_path / "data", hotpotqa_train=[], hotpotqa_dev=[COMPARISON])
    with pytest.raises(InvalidInput, match="No record of these folds fits"):
        train_rq_rag(only, tmp_path / "out", base=str(base), given=HOW | {"datasets": "HotpotQA"}, device="cpu")


def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    trained: Path, base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    def until(step: int, _steps: int, _loss: float) -> None:
        if step == 10:
            raise Killed

    often = HOW | {"save_minutes": "1e-9"}
    with pytest.raises(Killed):
        train_rq_rag(data, tmp_path, base=str(base), given=often, device="cpu", report=until)
    told: list[int] = []
    train_rq_rag(
        data, tmp_path, base=str(base), given=often, device="cpu", resume=True, report=lambda n, *_: told.append(n)
    )
    assert told[0] in {10, 11}
    mine, theirs = (load_file(out / "rq_rag/adapter_model.safetensors") for out in (tmp_path, trained))
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    steps = [entry["step"] for entry in json.loads((tmp_path / "course.json").read_text())["history"]]
    assert steps == sorted(set(steps))


def test_a_run_with_other_options_is_not_resumed(trained: Path, base: Path, data: Path) -> None:
    with pytest.raises(ResourceError, match="other options or records"):
        train_rq_rag(data, trained, base=str(base), given=HOW | {"seed": "1"}, device="cpu", resume=True)
    with pytest.raises(ResourceError, match="made with other options"):
        train_rq_rag(data, trained, base=str(base), given=HOW | {"passages": "1"}, device="cpu", resume=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ranks": "4"}, "There is no option 'ranks'. Options: accumulate, alpha,"),
        ({"rank": "0"}, "rank was given as '0': Input should be greater than or equal to 1"),
        ({"form": "twice"}, "form was given as 'twice': Input should be 'refined' or 'one_shot'"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, str], message: str, data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        train_rq_rag(data, tmp_path, base="nowhere", given=given)


def test_other_models_get_the_papers_tokens_and_learn_their_embeddings(data: Path, tmp_path: Path) -> None:
    plain = tiny_causal(tmp_path / "plain", special=())
    opened = open_base(plain, device="cpu")
    assert opened.tokens == PAPER
    assert len(opened.new_tokens) == len(PAPER.all)
    out = tmp_path / "out"
    train_rq_rag(data, out, base=str(plain), given=HOW | {"epochs": "1"}, device="cpu")
    names = load_file(out / "rq_rag/adapter_model.safetensors")
    assert any("trainable_tokens_delta" in name for name in names)
    # The adapter goes with the tokenizer that knows the tokens.
    assert AutoTokenizer.from_pretrained(out / "rq_rag")(PAPER.answer, add_special_tokens=False)["input_ids"]


def test_all_weights_can_be_trained_and_passages_learned_too(
    base: Path, data: Path, trained: Path, tmp_path: Path
) -> None:
    options = FineTuneOptions(
        full=True, max_steps=2, batch_tokens=600, mask_retrieved=False, gradient_checkpointing=True
    )
    fine_tune(base, trained / "records.jsonl", tmp_path, options=options, device="cpu")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "rq_rag")
    assert loss_of(again, base, trained) != pytest.approx(
        loss_of(AutoModelForCausalLM.from_pretrained(base), base, trained)
    )
    card = json.loads((tmp_path / "rq_rag/card.json").read_text())
    assert card["learned_tokens"] > json.loads((trained / "rq_rag/card.json").read_text())["learned_tokens"]


def test_the_records_learned_can_be_fewer(base: Path, trained: Path, tmp_path: Path) -> None:
    options = FineTuneOptions(records=2, max_steps=1, batch_tokens=600)
    fine_tune(base, trained / "records.jsonl", tmp_path, options=options, device="cpu")
    card = json.loads((tmp_path / "rq_rag/card.json").read_text())
    assert card["tokens"] < json.loads((trained / "rq_rag/card.json").read_text())["tokens"]
    assert BRIDGE["fold"] == 0
