"""Several LoRA adapters on one base in one process, each request by its own, and what is no adapter refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.causal import CausalModel, Sampling

Load = Callable[..., CausalModel]
# Of peft, which asks transformers by an old name where the tests make adapters and read them in their own way.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
PROMPT = [3, 1, 4, 1, 5]


@pytest.fixture(scope="module")
def adapters(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two adapters of different layers and ranks, with weights that make a difference."""
    made = {}
    for name, layers, rank in (("one", ["q_proj", "v_proj"], 2), ("two", "all-linear", 4)):
        base = AutoModelForCausalLM.from_pretrained(folders["llama"])
        model = get_peft_model(base, LoraConfig(r=rank, target_modules=layers, task_type="CAUSAL_LM"))
        torch.manual_seed(rank)
        for key, weight in model.named_parameters():
            if "lora_B" in key:
                weight.data.normal_(std=0.5)
        made[name] = str(tmp_path_factory.mktemp(name))
        model.save_pretrained(made[name])
    return made


def expected(folders: dict[str, Path], adapter: str | None) -> Any:
    """The scores of what follows the prompt, by peft itself."""
    from peft import PeftModel

    model = AutoModelForCausalLM.from_pretrained(folders["llama"])
    if adapter is not None:
        model = PeftModel.from_pretrained(model, adapter)
    with torch.inference_mode():
        return torch.log_softmax(model.eval()(torch.tensor([PROMPT])).logits[0, -1], -1)


def first(model: CausalModel, adapter: str = "", prompt: Any = PROMPT) -> list[float]:
    """The log-probabilities of all tokens as the first of a reply."""
    (step,) = list(model.generate(prompt, limit=1, sampling=Sampling(seeds=[0], top=32), adapter=adapter))
    assert step[0] is not None
    return [value for _, value in sorted(step[0].top)]


def test_each_request_is_answered_by_its_own_adapter(
    load: Load, folders: dict[str, Path], adapters: dict[str, str]
) -> None:
    model = load()
    wanted = {name: expected(folders, adapters.get(name)).tolist() for name in ("one", "two", "none")}
    assert wanted["one"] != pytest.approx(wanted["two"], abs=0.1)
    assert wanted["one"] != pytest.approx(wanted["none"], abs=0.1)
    names = ["one", "none", "two", "two", "none", "one"] * 3
    with ThreadPoolExecutor(len(names)) as pool:
        found = list(pool.map(lambda name: first(model, adapters.get(name, "")), names))
    for name, scores in zip(names, found, strict=True):
        assert scores == pytest.approx(wanted[name], abs=1e-4)


def test_replies_of_different_adapters_at_the_same_time_do_not_mix(load: Load, adapters: dict[str, str]) -> None:
    def written(model: CausalModel, adapter: str) -> list[int]:
        steps = model.generate(PROMPT, limit=12, sampling=Sampling(seeds=[1], temperature=1.0), adapter=adapter)
        return [step[0].id for step in steps if step[0]]

    names = ["", adapters["one"], adapters["two"]] * 3
    alone = [written(load(), name) for name in names[:3]]
    model = load()
    with ThreadPoolExecutor(len(names)) as pool:
        assert list(pool.map(lambda name: written(model, name), names)) == alone * 3
    assert len({tuple(one) for one in alone}) == 3


def test_a_text_is_weighed_by_an_adapter(load: Load, folders: dict[str, Path], adapters: dict[str, str]) -> None:
    found = load().log_probabilities("h", prompt=PROMPT, adapter=adapters["two"])
    assert found[0][1] == pytest.approx(float(expected(folders, adapters["two"])[7]), abs=1e-4)


def test_what_is_no_adapter_is_refused(
    load: Load, folders: dict[str, Path], adapters: dict[str, str], tmp_path: Path
) -> None:
    model = load()
    with pytest.raises(ResourceError, match=r"lacks adapter_config\.json"):
        first(model, str(tmp_path))
    config = json.loads((Path(adapters["one"]) / "adapter_config.json").read_text("utf-8"))
    weights = (Path(adapters["one"]) / "adapter_model.safetensors").read_bytes()
    (tmp_path / "adapter_config.json").write_text(json.dumps({**config, "peft_type": "IA3"}), "utf-8")
    (tmp_path / "adapter_model.bin").write_bytes(b"\x80\x02")
    with pytest.raises(ResourceError, match=r"lacks adapter_model\.safetensors"):
        first(model, str(tmp_path))
    (tmp_path / "adapter_model.safetensors").write_bytes(weights)
    with pytest.raises(ResourceError, match="cannot be read as an adapter"):
        first(model, str(tmp_path))
    (tmp_path / "adapter_config.json").write_text(json.dumps({**config, "r": 8}), "utf-8")
    with pytest.raises(ResourceError, match="cannot be read as an adapter"):
        first(model, str(tmp_path))
    (tmp_path / "adapter_config.json").write_text(json.dumps({**config, "target_modules": ["k_proj"]}), "utf-8")
    with pytest.raises(ResourceError, match="cannot be read as an adapter"):
        first(model, str(tmp_path))
    # A refused adapter leaves the network as it was, and the others usable.
    assert first(model) == pytest.approx(expected(folders, None).tolist(), abs=1e-4)
    assert first(model, adapters["one"]) == pytest.approx(expected(folders, adapters["one"]).tolist(), abs=1e-4)
