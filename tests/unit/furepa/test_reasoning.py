"""What the calls of furthest reasoning are sent: seeds and temperatures."""

from __future__ import annotations

from typing import Any

import pytest
from furepa_world import FIRST, QUESTION, FixedScorer, WordRetriever, scripted
from trusting import trusting

from langgraph_evidence import FurepaSettings
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.methods.furepa.graph import Furepa


def run(model: Any, **values: Any) -> Any:
    """A run whose calls are tried once each."""
    language_model = LanguageModel(model, attempts=1)
    furepa = Furepa(FurepaSettings(**values), trusting, language_model, WordRetriever(), FixedScorer({}))
    return furepa.graph().compile().invoke({"question": QUESTION})


def sent(model: Any, name: str) -> list[Any]:
    return [call["kwargs"].get(name) for call in model.calls]


@pytest.mark.parametrize("native", [False, True])
def test_every_iteration_has_seeds_of_its_own_and_one_for_the_call_that_asks_alone(native: Any) -> None:
    failed = {"match": FIRST, "status": 500, "times": 1 if native else 3}
    model = scripted(faults=[failed])
    run(model, samples=3, seed=100, native_n=native)
    # 100 to 102, and 103 for the call alone; then 104 to 106, and 107 was not needed; then 108 to 110.
    first = [100] if native else [100, 101, 102]
    later = [104, 108] if native else [104, 105, 106, 108, 109, 110]
    seeds = sent(model, "seed")
    assert sorted(seeds[: len(first)]) == first
    assert seeds[len(first)] == 103
    assert sorted(seeds[len(first) + 1 :]) == later


def test_without_a_seed_a_model_of_chance_is_sent_none() -> None:
    model = scripted(deterministic=False)
    run(model, samples=2)
    assert set(sent(model, "seed")) == {None}
    model = scripted(deterministic=False)
    run(model, samples=2, seed=0)
    assert sorted(sent(model, "seed")) == [0, 1, 3, 4, 6, 7]


@pytest.mark.parametrize(("temperature", "forced"), [(0.7, 0.7), (0.0, 0.0), (None, None)])
def test_the_forced_answer_has_a_temperature_of_its_own_and_the_seed_of_the_run(temperature: Any, forced: Any) -> None:
    model = scripted()
    out = run(model, samples=1, iterations=1, temperature=0.3, answer_temperature=temperature, seed=5)
    assert (out["answer"], out["stopped"]) == ("Gwalior", "forced")
    assert sent(model, "temperature") == [0.3, forced]
    assert sent(model, "seed") == [5, 5]


@pytest.mark.parametrize(("first", "sent_then"), [(0.25, [0.25, 1.0, 1.5]), (1.9, [1.9] * 3), (None, [None] * 3)])
def test_the_temperature_rises_to_its_limit_and_never_falls(first: Any, sent_then: Any) -> None:
    model = scripted(rules=[("", "no plan")])
    run(model, samples=1, iterations=3, temperature=first, temperature_step=0.75, temperature_limit=1.5)
    assert sent(model, "temperature") == sent_then


def test_an_answer_before_there_is_evidence_is_no_plan() -> None:
    model = scripted(rules=[(FIRST, "[Answer] Gwalior")])
    out = run(model, samples=2, iterations=1)
    assert {(plan["kind"], plan["text"]) for plan in out["plans"].values()} == {
        ("unusable", "Only a [Search] line can be used in the first step.")
    }
