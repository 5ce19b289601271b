"""Tool files: what a good one makes, and by which line and reason a bad one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.tools.declarative import EnvironmentReference, ToolSpec, parse_tool, read_tool_file
from langgraph_evidence.tools.parameters import Parameter

GOOD = """\
# The weather.
description = "The weather at a place now."
method = "GET"
url = "https://api.example.org/v1/{country}/weather?lang=en"

[dynamic_params]
country = "A country's two letters"
latitude = { meaning = "Degrees north", type = "number", required = false }
unit = { meaning = "The unit", enum = ["metric", "imperial"] }

[static_params]
key = { env = "WEATHER_KEY" }
days = 1
"""


def parse(text: str) -> ToolSpec:
    return parse_tool(text.encode(), name="weather", source="weather.toml")


def test_a_file_of_five_fields_is_a_tool() -> None:
    spec = parse(GOOD)
    assert spec == ToolSpec(
        name="weather",
        description="The weather at a place now.",
        method="GET",
        url="https://api.example.org/v1/{country}/weather?lang=en",
        dynamic_params=(
            Parameter("country", "A country's two letters"),
            Parameter("latitude", "Degrees north", type="number", required=False),
            Parameter("unit", "The unit", enum=("metric", "imperial")),
        ),
        static_params={"key": EnvironmentReference("WEATHER_KEY"), "days": 1},
        idempotent=True,
    )
    assert spec.secrets == ["WEATHER_KEY"]


def test_a_post_is_not_repeated_unless_the_file_says_so() -> None:
    assert not parse(GOOD.replace('"GET"', '"POST"')).idempotent
    assert parse(GOOD.replace('"GET"', '"POST"\nidempotent = true')).idempotent


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ('method = "GET"', "method = GET", 3, "not TOML"),
        ("[static_params]", "[static_params", 11, "not TOML"),
        ("days = 1", "days = 1\ndays = 2", 14, "not TOML"),
        ('description = "The weather at a place now."\n', "", 1, "description is missing"),
        ('method = "GET"\n', "", 1, "method is missing"),
        ('method = "GET"', 'method = "DELETE"', 3, "'GET' or 'POST'"),
        ('method = "GET"', "method = 3", 3, "'GET' or 'POST'"),
        ('"The weather at a place now."', '"  "', 2, "takes a text"),
        ('method = "GET"', 'method = "GET"\nheaders = {}', 4, "'headers' is not known here"),
        ('method = "GET"', 'method = "GET"\nidempotent = "yes"', 4, "true or false"),
        ("https://", "file://", 4, "only http and https"),
        ("api.example.org", "user:password@api.example.org", 4, "user name"),
        ("api.example.org", "{country}.example.org", 4, "not in its host"),
        ("api.example.org", "0x7f.1", 4, "is a number"),
        ("?lang=en", "#top", 4, "fragment"),
        ("{country}", "{county}", 4, "'county'|county"),
        ("{country}", "{latitude}", 4, "no static or required dynamic"),
        ("?lang=en", "?lang={}", 4, "no static or required dynamic"),
        ("?lang=en", "?lang={", 4, "url is refused"),
        ('country = "A', 'bad.name = "A', 7, "takes a text|not known"),
        ('country = "A', '"a b" = "A', 7, "'a b' is not named"),
        ('country = "A country\'s two letters"', "country = 3", 7, "what it means"),
        ('type = "number"', 'type = "float"', 8, "string, integer, number, boolean"),
        ('type = "number"', 'type = "array"', 8, "with GET"),
        ("required = false", 'required = "no"', 8, "true or false"),
        ("required = false", 'default = "no"', 8, "'default' is not known here"),
        ('meaning = "Degrees north", ', "", 8, "meaning is None"),
        ('enum = ["metric", "imperial"]', "enum = []", 9, "list of values"),
        ('enum = ["metric", "imperial"]', 'enum = "metric"', 9, "list of values"),
        ('type = "number"', 'type = "number", enum = ["north"]', 8, "list of values of the type number"),
        ("days = 1", "country = 1", 13, "dynamic as well as static"),
        ("days = 1", "days = [1]", 13, "takes a text, a number"),
        ("days = 1", "days = nan", 13, "takes a text, a number"),
        ("days = 1", "days = 2026-01-01", 13, "takes a text, a number"),
        ('env = "WEATHER_KEY"', 'environment = "WEATHER_KEY"', 12, "a secret is written"),
        ('env = "WEATHER_KEY"', 'env = "a b"', 12, "a secret is written"),
        ('env = "WEATHER_KEY"', 'env = "A", also = 1', 12, "a secret is written"),
        ("days = 1", "days = " + "9" * 5000, 1, "not TOML"),
        ("days = 1", "days = " + "[" * 5000, 1, "nested too deeply"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(old: str, new: str, line: int, reason: str) -> None:
    assert old in GOOD
    with pytest.raises(ResourceError, match=reason) as caught:
        parse(GOOD.replace(old, new))
    assert str(caught.value).startswith(f"weather.toml:{line}: ")


def test_the_line_is_that_of_the_right_table() -> None:
    text = GOOD.replace("days = 1", 'days = 1\nunit = { env = "a b" }')
    with pytest.raises(ResourceError, match=r"weather\.toml:14: unit is a table"):
        parse(text)


def test_a_table_of_parameters_that_is_none_is_refused() -> None:
    with pytest.raises(ResourceError, match=r"weather\.toml:1: dynamic_params is a table"):
        parse('dynamic_params = ["city"]\n' + GOOD.split("[dynamic_params]")[0])


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "weather.toml"
    path.write_bytes(b'description = "a"\nurl = "\xff"\n')
    with pytest.raises(ResourceError, match=r"weather\.toml:2: the file is not UTF-8"):
        read_tool_file(path)
    path.write_bytes(b"#" * 70_000)
    with pytest.raises(ResourceError, match=r"weather\.toml:1: .*more than 65,536 bytes"):
        read_tool_file(path)
    with pytest.raises(ResourceError, match="cannot be read"):
        read_tool_file(tmp_path / "absent.toml")


@pytest.mark.parametrize("name", ["", "1st", "a b", "../x", "é", "x" * 65])
def test_a_file_that_cannot_name_a_tool_is_refused(name: str) -> None:
    with pytest.raises(ResourceError, match="called as its file"):
        parse_tool(GOOD.encode(), name=name, source="file")


def refusal(data: bytes) -> str:
    try:
        parse_tool(data, name="x", source="x.toml")
    except ResourceError as error:
        return str(error)
    return "none"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_tool_or_refused(data: bytes) -> None:
    assert refusal(data).startswith(("x.toml:", "none"))


VALUES = ('1|-1|nan|inf|""|"x"|[]|{}|[[]]|true|2026-01-01|{ env = "A" }|{ meaning = "x" }|{ a.b.c = 1 }').split("|")
KEYS = (
    "description method url dynamic_params static_params idempotent dynamic_params.a static_params.b "
    '[dynamic_params]\nc "a\\u0000"'
).split(" ")


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=6))
def test_any_table_is_a_tool_or_refused(rows: list[tuple[str, str]]) -> None:
    for head in ("", 'description = "x"\nmethod = "POST"\nurl = "https://example.com/{a}"\n'):
        text = head + "\n".join(f"{key} = {value}" for key, value in rows)
        assert refusal(text.encode()).startswith(("x.toml:", "none"))
