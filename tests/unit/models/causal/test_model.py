"""One model to write and to weigh: the likelihood of a text, and replies held to the tokens that are allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.causal import Sampling
from langgraph_evidence.models.causal.model import CausalModel


def test_a_local_model_gives_the_log_probability_of_the_text(language_model: Any) -> None:
    model = CausalModel.load(language_model, device="cpu")
    text = "Who? Me. You."
    found = model.log_probabilities(text)
    assert [start for start, _ in found] == list(range(1, len(text)))
    ids = model._tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        mean_loss = float(model._model(input_ids=ids, labels=ids).loss)
    assert sum(value for _, value in found) == pytest.approx(-mean_loss * (len(text) - 1), rel=1e-4)


def test_a_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="causal language model"):
        CausalModel.load(tmp_path)


@pytest.fixture(scope="module")
def model(language_model: Any) -> CausalModel:
    return CausalModel.load(language_model, device="cpu")


def written(model: CausalModel, prompt: str, limit: int = 6, **how: Any) -> list[list[Any]]:
    """The tokens of each reply."""
    steps = model.generate(model._tokenizer(prompt)["input_ids"], limit=limit, sampling=Sampling(**how))
    return [[token for token in reply if token] for reply in zip(*steps, strict=True)]


def test_what_is_written_is_as_likely_as_it_is_weighed(model: CausalModel) -> None:
    letters = set(model._tokenizer("abcdefgh")["input_ids"])
    (reply,) = written(model, "Who?", seeds=[3], temperature=1.0, allowed=lambda _: letters)
    weighed = model.log_probabilities("Who?" + model.decode([token.id for token in reply]))[-len(reply) :]
    assert [value for _, value in weighed] == pytest.approx([token.logprob for token in reply], abs=1e-4)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_only_allowed_tokens_are_written(model: CausalModel, temperature: float) -> None:
    first, second = model._tokenizer("xy")["input_ids"]

    def in_turn(reply: Any) -> set[int] | None:
        return [{first}, {first, second}, None, ()][len(reply)]  # type: ignore[return-value]  # none to end it

    one, other = written(model, "Who?", seeds=[1, 2], temperature=temperature, top_p=0.9, allowed=in_turn)
    for reply in (one, other):
        assert len(reply) == 3
        assert reply[0].id == first
        assert reply[1].id in {first, second}
    # The log-probability is the model's own, not that of a choice among one.
    assert one[0].logprob < -1


def test_a_hook_that_allows_all_changes_nothing(model: CausalModel) -> None:
    how: dict[str, Any] = {"seeds": [4, 5], "temperature": 1.0, "top": 3}
    assert written(model, "Who?", **how, allowed=lambda _: None) == written(model, "Who?", **how)


@pytest.mark.parametrize("options", [{"device": "tpu"}, {"precision": "int4"}])
def test_a_device_or_precision_that_is_none_is_refused(language_model: Any, options: Any) -> None:
    with pytest.raises(InvalidInput, match="not supported"):
        CausalModel.load(language_model, **options)


def test_a_precision_is_that_of_the_weights(language_model: Any) -> None:
    half = CausalModel.load(language_model, device="cpu", precision="bf16")
    assert half._model.dtype == torch.bfloat16
    assert CausalModel.load(language_model, device="cpu")._model.dtype == torch.float32
