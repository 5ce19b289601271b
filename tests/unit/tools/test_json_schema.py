"""What an argument's schema allows, in words and as a check; and what a hostile schema cannot do."""

from __future__ import annotations

import time
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from local_service import Answer, serving
from pydantic import BaseModel, Field, TypeAdapter

from langgraph_evidence.tools.json_schema import kind, misfit, plain, told


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    city: str
    year: int = Field(2000, ge=0, le=2100)


def of(annotation: Any) -> dict[str, Any]:
    return plain(TypeAdapter(annotation).json_schema())


@pytest.mark.parametrize(
    ("annotation", "one_word", "words"),
    [
        (str, "string", "string"),
        (Colour, "string", 'one of "red", "blue"'),
        (Colour | None, "string", 'one of "red", "blue" or null'),
        (Literal["m", 3], "any", 'one of "m", 3'),
        (Literal["m"], "string", '"m"'),
        (int | str, "any", "integer or string"),
        (list[Colour], "array", 'array of one of "red", "blue"'),
        (Place, "object", 'object of "city": string, "year": integer, at least 0, at most 2100 (may be left out)'),
        (dict[str, int], "object", "object"),
        (Any, "any", "any"),
    ],
)
def test_what_a_schema_allows_is_told(annotation: Any, one_word: str, words: str) -> None:
    assert (kind(of(annotation)), told(of(annotation))) == (one_word, words)


@pytest.mark.parametrize(
    ("annotation", "fits", "fails", "reason"),
    [
        (Colour, "red", "green", 'takes one of "red", "blue", not "green"'),
        (Colour | None, None, 3, 'takes one of "red", "blue" or null, not int'),
        (Literal["m", 3], 3, "3", 'takes one of "m", 3, not "3"'),
        (Place, {"city": "Rome"}, {"year": 1}, "'city' is a required property"),
        (Place, {"city": "Rome"}, {"city": "Rome", "year": 3000}, "at most 2100, not 3000 (at /year)"),
        (list[Place], [{"city": "Rome"}], [{"city": 1}], "takes string, not int (at /0/city)"),
        (dict[str, int], {"a": 1}, {"a": "b"}, "takes integer, not str (at /a)"),
        (tuple[int, str], [1, "a"], ["a", "a"], "takes integer, not str (at /0)"),
        (int, 1, True, "takes integer, not bool"),
    ],
)
def test_a_value_fits_or_its_reason_is_told(annotation: Any, fits: Any, fails: Any, reason: str) -> None:
    assert misfit(fits, of(annotation)) == ""
    assert reason in misfit(fails, of(annotation))


def test_nothing_is_fetched() -> None:
    with serving(lambda arrival: Answer(b'{"type": "integer"}')) as service:
        for reference in (service.url, f"{service.url}/a.json#/$defs/b", "b.json"):
            schema = plain({"$id": service.url, "$schema": service.url, "properties": {"a": {"$ref": reference}}})
            assert misfit({"a": "b"}, schema) == ""
        assert service.arrivals == []


def test_no_schema_takes_long() -> None:
    doubled = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 20} for n in range(20)}
    slow = [
        {"$ref": "#/$defs/d0", "$defs": doubled},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#"}}},
        {"pattern": "(a+)+$", "anyOf": [{"pattern": "(a|a)+$"}]},
        {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False},
        {"enum": ["a" * 1000] * 1000},
    ]
    began = time.perf_counter()
    for schema in map(plain, slow):
        assert len(told(schema)) <= 300
        misfit("a" * 40 + "!", schema)
        misfit({"a" * 40 + "!": {"a": {"a": 1}}}, schema)
    assert time.perf_counter() - began < 2


def test_what_is_not_read_is_allowed_and_not_refused() -> None:
    either = plain({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]})
    assert misfit("b", either) == ""
    assert misfit("b", plain({"not": {"pattern": "^a"}})) == ""
    assert misfit({"x-a": 1}, plain({"patternProperties": {"^x-": {}}, "additionalProperties": False})) == ""
    assert misfit(1, plain({"properties": {"a": False}})) == ""
    assert misfit("b", {"type": "text"}) == ""
    assert (
        told(plain({"type": "object", "properties": {"a": {}}, "required": 3}))
        == 'object of "a": any (may be left out)'
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["string", "#", "#/properties/a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "enum", "required", "$ref", "minimum", "const", "a"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON, JSON)
@example({"const": None, "enum": None}, None)
def test_no_schema_breaks_the_check(schema: Any, value: Any) -> None:
    found = plain(schema)
    assert len(told(found)) <= 300
    assert isinstance(kind(found), str)
    assert isinstance(misfit(value, found), str)
