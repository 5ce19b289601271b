"""A declarative tool as the model calls it: arguments checked, nothing injected, the reply at most so long."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.unit_tests import ToolsUnitTests
from local_service import Answer, Service, serving

from langgraph_evidence.errors import ToolError
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.tools.declarative import parse_tool
from langgraph_evidence.tools.http import Limits
from langgraph_evidence.tools.http_tool import http_tool
from langgraph_evidence.tools.parameters import READERS, Parameter, read_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.tools import BaseTool

LIMITS = Limits(first_wait=0.01)
FILE = """
description = "The weather."
method = "{method}"
url = "{url}"
[dynamic_params]
{parameters}
[static_params]
units = "metric & more"
"""


def make(
    service: Service, *, method: str = "GET", path: str = "/{city}", parameters: str = 'city = "A city"'
) -> BaseTool:
    text = FILE.replace("{url}", service.url + path).replace("{method}", method).replace("{parameters}", parameters)
    spec = parse_tool(text.encode(), name="weather", source="weather.toml")
    return http_tool(spec, environment={}, allow=["127.0.0.1"], limits=LIMITS)


def call(tool: BaseTool, **arguments: Any) -> ToolMessage:
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    assert isinstance(message, ToolMessage)
    return message


@pytest.fixture
def echo() -> Iterator[Service]:
    """Replies with the path, or with the body of a POST."""
    with serving(lambda arrival: Answer(arrival.body or json.dumps(arrival.path).encode())) as service:
        yield service


def test_the_model_sees_description_and_dynamic_parameters_alone(echo: Service) -> None:
    function = convert_to_openai_tool(make(echo))["function"]
    assert function["description"] == "The weather."
    assert function["parameters"]["properties"] == {"city": {"type": "string", "description": "A city"}}
    assert function["parameters"]["additionalProperties"] is False
    assert "127.0.0.1" not in json.dumps(function)
    assert "metric" not in json.dumps(function)


def test_get_and_post(echo: Service) -> None:
    assert call(make(echo), city="New York").content == '"/New%20York?units=metric%20%26%20more"'
    post = make(echo, method="POST", path="/", parameters='rows = { meaning = "Rows", type = "array" }')
    assert json.loads(str(call(post, rows=[1, [2, {"a": None}]]).content)) == {
        "units": "metric & more",
        "rows": [1, [2, {"a": None}]],
    }
    assert post.metadata == {"idempotent": False}
    assert make(echo).metadata is None


async def test_it_works_asynchronously(echo: Service) -> None:
    assert await make(echo, path="/").ainvoke({"city": "Rome"}) == '"/?units=metric%20%26%20more&city=Rome"'


@pytest.mark.parametrize(
    "arguments",
    [
        {"town": "Rome"},
        {"city": "Rome", "units": "imperial"},
        {"city": "Rome", "url": "http://127.0.0.1/"},
        {"city": "Rome", "config": {}},
        {"city": "Rome", "run_manager": 1},
        {"city": "Rome", "self": 1},
        {},
        {"city": None},
        {"city": ""},
        {"city": "  "},
        {"city": ["Rome"]},
        {"city": {"name": "Rome"}},
        {"city": True},
        {"city": "x" * 2001},
        {"city": "\ud800"},
        {"city": "Rome\r\nHost: evil"},
        {"city": "Rome\nX: y"},
        {"city": "a\x00b"},
        {"city": "."},
        {"city": ".."},
    ],
    ids=lambda arguments: ascii(arguments)[:40],
)
def test_wrong_arguments_are_told_to_the_model_and_never_sent(arguments: dict[str, Any], echo: Service) -> None:
    message = call(make(echo), **arguments)
    assert message.status == "error"
    assert "city" in str(message.content)
    assert echo.arrivals == []


@given(st.text(min_size=1, max_size=30))
def test_no_value_leaves_its_place_in_the_url(value: str) -> None:
    spec = parse_tool(
        FILE.replace("{url}", "https://example.com/a/{city}/b?q={city}#".rstrip("#"))
        .replace("{method}", "GET")
        .replace("{parameters}", 'city = "A city"\nother = "Another"')
        .encode(),
        name="weather",
        source="weather.toml",
    )
    tool: Any = http_tool(spec, environment={})
    try:
        arguments = read_arguments(spec.dynamic_params, {"city": value, "other": value})
        url = tool._request(arguments).url
    except ToolException:
        return
    assert url.host == "example.com"
    parts = urlsplit(url.whole)
    assert parts.path.count("/") == 3
    assert parts.fragment == ""
    assert parse_qsl(parts.query) == [("q", value.strip()), ("units", "metric & more"), ("other", value.strip())]


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        ("integer", "12", 12),
        ("integer", 12.0, 12),
        ("number", "1.5", 1.5),
        ("number", 2, 2),
        ("boolean", "True", True),
        ("boolean", False, False),
        ("boolean", "false", False),
        ("string", 12, "12"),
        ("array", [], []),
        ("object", {"a": [1.5]}, {"a": [1.5]}),
    ],
)
def test_arguments_are_read_as_their_type(kind: str, given: Any, read: Any) -> None:
    found = read_arguments([Parameter("x", "X", type=kind)], {"x": given})["x"]
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("integer", 1.5), ("integer", "one"), ("integer", True), ("integer", 10**5000), ("integer", "9" * 5000),
        ("integer", float("inf")), ("number", "nan"), ("number", float("inf")), ("number", 10**400), ("number", []),
        ("boolean", "yes"), ("boolean", 1), ("array", "[]"), ("array", [float("nan")]), ("array", [10**5000]),
        ("object", []), ("object", {"a": object()}), ("object", {"": 1}), ("string", 10**5000),
    ],
    ids=lambda value: ascii(value)[:20] if not isinstance(value, int | list) else type(value).__name__,
)  # fmt: skip
def test_what_is_not_of_its_type_is_refused(kind: str, given: Any) -> None:
    with pytest.raises(ToolException, match="'x' takes"):
        read_arguments([Parameter("x", "X", type=kind)], {"x": given})


def test_deep_nesting_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ToolException, match="'x' takes array"):
        read_arguments([Parameter("x", "X", type="array")], {"x": deep})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(READERS)), JSON_VALUES)
def test_any_value_is_read_or_refused_and_can_be_sent(kind: str, given: Any) -> None:
    try:
        found = read_arguments([Parameter("x", "X", type=kind, required=False)], {"x": given})
    except ToolException:
        return
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_enum_is_kept(echo: Service) -> None:
    tool = make(echo, parameters='city = { meaning = "A city", enum = ["Rome", "Oslo"] }')
    assert call(tool, city="Oslo").status == "success"
    assert "one of ['Rome', 'Oslo']" in str(call(tool, city="Paris").content)


@pytest.mark.parametrize("length", [14_999, 15_000, 15_001, 2_000_000])
def test_the_model_sees_at_most_fifteen_thousand_characters(length: int) -> None:
    with serving(lambda _: Answer(b"x" * length, headers={"Content-Type": "text/plain"})) as service:
        content = str(call(make(service), city="Rome").content)
    assert len(content) == min(length, 15_000)
    assert content.endswith("[cut]") is (length > 15_000)


def test_what_the_service_says_of_the_arguments_is_told() -> None:
    with serving(lambda _: Answer(b'{"reason": "no such city"}', status=400)) as service:
        message = call(make(service), city="Atlantis")
    assert message.status == "error"
    assert "no such city" in str(message.content)


def test_any_other_failure_is_the_applications() -> None:
    with (
        serving(lambda _: Answer(b"traceback", status=500)) as service,
        pytest.raises(ToolError, match=r"The tool 'weather' failed: .*status 500") as caught,
    ):
        call(make(service), city="Rome")
    assert (caught.value.status, caught.value.transient) == (500, True)


def test_an_empty_reply_is_told_as_one() -> None:
    with serving(lambda _: Answer(b"", status=204, headers={})) as service:
        assert "nothing" in str(call(make(service), city="Rome").content)


def test_an_agent_is_told_what_was_wrong_and_tries_again(echo: Service) -> None:
    def ask(**arguments: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": "weather", "args": arguments, "id": "1"}])

    model = ScriptedChat(
        rules=[("/Rome", AIMessage("Warm.")), ("no parameter 'town'", ask(city="Rome")), ("", ask(town="Rome"))]
    )
    messages = create_agent(model, [make(echo)]).invoke({"messages": [HumanMessage("Weather?")]})["messages"]
    told = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
    assert "There is no parameter 'town'" in told[0]
    assert told[1].startswith('"/Rome?')


class TestStandard(ToolsUnitTests):
    @property
    def tool_constructor(self) -> BaseTool:
        return make(Service(80))

    @property
    def tool_invoke_params_example(self) -> dict[str, str]:
        return {"city": "Rome"}
