"""The entry holds what other rooms need: schemas with bounds, a drawing, events and how they are told, a tool."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from cases import CASES, Case
from pydantic import ConfigDict, TypeAdapter, with_config
from trusting import DoubtingVerifier

from langgraph_evidence.cli.app import run
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.methods import get_method, method_names, register
from langgraph_evidence.run import RunOutput
from langgraph_evidence.settings import Settings
from langgraph_evidence.telling import Line, tell
from langgraph_evidence.types import Stopped

ROOT = Path(__file__).parents[2]


def test_every_method_of_the_registry_has_a_case() -> None:
    assert set(method_names()) == set(CASES)


def test_the_schemas_have_descriptions_and_bounds(case: Case) -> None:
    graph = case.graph(max_calls=7)
    given, context = graph.get_input_jsonschema(), graph.get_context_jsonschema()
    assert list(given["properties"]) == [case.method.input_key]
    for schema in (given, graph.get_output_jsonschema(), context):
        assert schema["properties"]
        assert schema["description"]
    shared = set(RunOutput.__annotations__)
    assert {"answer", "citations", "sentences", "support", "conflicts", "cited_by", "guess", "stopped"} <= shared
    assert shared <= set(graph.get_output_jsonschema()["properties"])
    assert set(Settings.model_fields) <= set(context["properties"])
    for name, prop in context["properties"].items():
        assert prop["description"].endswith(f"[{prop['source']}]"), name
        for member in prop.get("anyOf", [prop]):
            assert member["type"] not in {"integer", "number"} or member["minimum"] < member["maximum"], name
    assert context["properties"]["max_calls"]["anyOf"][0]["maximum"] == 7


def test_the_drawing_is_mermaid_text_that_is_always_the_same(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    drawing = case.method.drawing()
    assert "graph TD;" in drawing
    assert drawing.count("-->") + drawing.count("-.->") >= 5
    assert case.method.drawing() == drawing
    assert run(["draw", case.method.name]) == 0
    assert capsys.readouterr().out.split() == drawing.split()


def test_the_command_line_lists_it(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)[case.method.name]
    assert listed["input"] == case.method.input_key
    assert set(listed["settings"]) == set(case.method.settings.model_fields)
    assert set(case.local) == set(case.method.local_models) == set(listed["local_models"])


def test_every_event_follows_its_schema_and_is_told(case: Case) -> None:
    kinds = set()
    doubted = case.checked_by(DoubtingVerifier()).graph().stream(case.given(), stream_mode="custom")
    for event in [*case.graph().stream(case.given(), stream_mode="custom"), *doubted]:
        assert json.loads(json.dumps(event)) == event
        kinds.add(event["type"])
        payload = {key: value for key, value in event.items() if key not in {"type", "v"}}
        schema: Any = with_config(ConfigDict(extra="forbid", strict=True))(case.method.events[event["type"]])
        TypeAdapter(schema).validate_python(payload)
        assert set(payload) == set(schema.__annotations__)
        for line in tell(event, case.method.tell):
            assert isinstance(line, Line)
            assert line.label
            assert isinstance(line.text, str)
    assert kinds == set(case.method.events) == set(case.method.tell)
    assert all(kind.startswith(f"{case.method.name}.") for kind in kinds)


def test_the_offline_model_has_a_reply_to_every_prompt(case: Case) -> None:
    room = importlib.import_module(case.method.settings.__module__.rpartition(".")[0] + ".prompts")
    prompts = {value.name for value in vars(room).values() if isinstance(value, Prompt)}
    assert prompts == set(case.method.responders) or not case.method.needs_model
    assert all(name.startswith(f"{case.method.name}.") for name in prompts)


def test_the_offline_model_brings_a_run_to_its_end(case: Case) -> None:
    output = case.graph("offline").invoke(case.given())
    assert output["stopped"] in get_args(Stopped)
    assert output["usage"]["calls"] >= 2
    assert "I am the offline model" not in output["answer"]


def test_citations_point_into_the_evidence(case: Case) -> None:
    output = case.graph().invoke(case.given())
    passages = {passage["id"]: passage for passage in output["evidence"]}
    assert output["citations"]
    for citation in output["citations"]:
        passage = passages[citation["passage_id"]]
        assert passage["text"][citation["quote_start"] : citation["quote_end"]] == citation["quote"] != ""
        assert 0 <= citation["start"] < citation["end"] <= len(output["answer"])
        assert citation["title"] == passage["title"] == case.passages[passage["id"]][0]
        assert 0.0 < citation["support"] <= 1.0
    annotations = output["messages"][0].content_blocks[0]["annotations"]
    assert [note["cited_text"] for note in annotations] == [citation["quote"] for citation in output["citations"]]


async def test_the_mcp_server_lists_it(case: Case) -> None:
    spec = importlib.util.spec_from_file_location("published", ROOT / "tools" / "mcp_server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tools = {tool.name: tool for tool in await module.build([]).list_tools()}
    assert set(tools) >= set(method_names())
    assert list(tools[case.method.name].parameters["properties"]) == [case.method.input_key]
    assert case.method.paper in tools[case.method.name].description


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Toy!"}, "lower-case letters"),
        ({}, "There is a method 'toy' already"),
        ({"name": "other"}, "'toy.search' of 'other' needs that name before it"),
        ({"name": "toy_2", "events": {"toy_2.x": dict}}, "an entry in `tell`"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    from dataclasses import replace

    with pytest.raises(InvalidInput, match=message):
        register(replace(get_method("toy"), **changes))
