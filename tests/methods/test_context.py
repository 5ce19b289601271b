"""What a run's context can change: the same as a mapping and as settings, and no limit that was built in."""

from typing import Any

import pytest
from furepa_world import QUESTION, FixedScorer, WordRetriever
from furepa_world import scripted as furepa_script
from rebel_world import ANY, STEPS, Table
from rebel_world import build as build_rebel
from rebel_world import scripted as rebel_script

from langgraph_evidence import FurepaSettings, create_furepa
from langgraph_evidence.llm.prompt import PromptCall
from langgraph_evidence.llm.testing import ScriptedChat


def furepa(model: Any = None, **values: Any) -> Any:
    """Over a model that asks a new question for ever."""
    asking = model or ScriptedChat(rules=[("", lambda _text, seed: f"[Search] Dhyan Chand {seed}")])
    settings = FurepaSettings(**values)
    return asking, create_furepa(asking, WordRetriever(), settings=settings, query_scorer=FixedScorer({})).compile()


def rebel(**values: Any) -> Any:
    """Over a model that splits every question in three."""

    def reply(call: PromptCall, _seed: int) -> str:
        asked = call.values["question"]
        split = "\n".join(f"{n}. {asked[:-1]}{n}?" for n in (1, 2, 3))
        return {"split": split, "recall": "yes", "answer": "so"}[STEPS[call.name]]

    asking = rebel_script(rules=[(ANY, reply)])
    return asking, build_rebel(asking, [Table({}).tool()], near=1.0, **values).compile()


@pytest.mark.parametrize("context", [{"iterations": 1}, FurepaSettings(iterations=1)])
def test_a_context_keeps_what_it_does_not_name_whether_a_mapping_or_settings(context: Any) -> None:
    model, graph = furepa(furepa_script(), samples=3)
    assert graph.invoke({"question": QUESTION}, context=context)["stopped"] == "forced"
    assert len(model.calls) == 3 + 1


@pytest.mark.parametrize(("build", "name", "value"), [(furepa, "iterations", 4), (rebel, "depth", 2)])
def test_the_schema_of_a_graph_shows_bounds_meanings_sources_and_what_it_was_built_with(
    build: Any, name: Any, value: Any
) -> None:
    _, graph = build(**{name: value}, max_calls=6)
    shown = graph.get_context_jsonschema()["properties"]
    assert shown[name]["default"] == value
    assert shown["max_calls"]["default"] == shown["max_calls"]["anyOf"][0]["maximum"] == 6
    for prop in shown.values():
        assert prop["description"].endswith(f"[{prop['source']}]")
        for member in prop.get("anyOf", [prop]):
            assert member["type"] not in {"integer", "number"} or member["minimum"] < member["maximum"]
    assert {"temperature", "seed", "max_calls", "max_tokens", "max_seconds"} <= shown.keys()


def test_no_temperature_is_sent_when_there_is_none_and_none_rises() -> None:
    unusable = ScriptedChat(rules=[("", "Well.")])
    model, graph = furepa(unusable, iterations=2, temperature=None)
    graph.invoke({"question": QUESTION})
    assert len(model.calls) == 10
    model.calls.extend(_forced(answer_temperature=None))
    assert not any("temperature" in call["kwargs"] for call in model.calls)
    assert [call["kwargs"]["temperature"] for call in _forced(answer_temperature=0.7)] == [0.7]
    asking, tree = rebel(depth=0, temperature=None)
    tree.invoke({"question": QUESTION})
    assert asking.calls
    assert not any("temperature" in call["kwargs"] for call in asking.calls)


def _forced(**values: Any) -> Any:
    """The call for the forced answer."""
    model, graph = furepa(furepa_script(), iterations=1, temperature=None, **values)
    assert graph.invoke({"question": QUESTION})["stopped"] == "forced"
    return model.calls[-1:]


def test_a_seed_is_sent_with_every_call() -> None:
    asking, tree = rebel(depth=0, seed=11)
    tree.invoke({"question": QUESTION})
    assert {call["kwargs"]["seed"] for call in asking.calls} == {11}
