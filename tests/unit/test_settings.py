"""Settings: every value checked where it is set, names and values as words, contexts completed, limits as ceilings."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import timeit
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.methods import get_method, method_names
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.settings import (
    Settings,
    allowed,
    parse_assignments,
    properties,
    resolve,
    schema_of,
    setting,
    within,
)


class Knobs(Settings):
    turns: int = setting(default=6, meaning="turns", source="test", low=1, high=9)
    share: float = setting(default=0.5, meaning="share", source="test", low=0.0, high=1.0)
    warmth: float | None = setting(default=0.0, meaning="warmth", source="test", low=0.0, high=2.0)
    mode: Literal["fast", "slow", "none"] = setting(default="fast", meaning="mode", source="test")
    name: str = setting(default="", meaning="name", source="test")
    loud: bool = setting(default=False, meaning="loud", source="test")


def knobs(**values: Any) -> Knobs:
    """As a caller without a type checker builds them."""
    return Knobs(**values)


WRONG = [
    ({"turns": 0}, "Setting 'turns' was given 0; it takes integer from 1 to 9."),
    ({"turns": 10}, "Setting 'turns' was given 10; it takes integer from 1 to 9."),
    ({"turns": 2.5}, "Setting 'turns' was given 2.5; it takes integer from 1 to 9."),
    ({"turns": True}, "Setting 'turns' was given True; it takes integer from 1 to 9."),
    ({"turns": None}, "Setting 'turns' was given None; it takes integer from 1 to 9."),
    ({"share": math.nan}, "Setting 'share' was given nan; it takes number from 0.0 to 1.0."),
    ({"share": False}, "Setting 'share' was given False; it takes number from 0.0 to 1.0."),
    ({"warmth": math.inf}, "Setting 'warmth' was given inf; it takes number from 0.0 to 2.0 or none."),
    ({"mode": "medium"}, "Setting 'mode' was given 'medium'; it takes 'fast' or 'slow' or 'none'."),
    ({"loud": 1}, "Setting 'loud' was given 1; it takes true or false."),
    ({"name": 1}, "Setting 'name' was given 1; it takes text."),
    ({"max_calls": "3"}, "Setting 'max_calls' was given '3'; it takes integer from 1 to 1000000 or none."),
    ({"truns": 3}, "There is no setting 'truns'. Did you mean 'turns'? Known settings: turns, share, "),
    ({"xyz": 3}, "There is no setting 'xyz'. Known settings: turns, share, "),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_a_wrong_value_is_refused_with_what_is_allowed(values: Any, message: Any) -> None:
    for build in (Knobs, schema_of(Knobs(turns=2))):
        with pytest.raises(InvalidInput) as caught:
            build(**values)
        assert str(caught.value).startswith(message)
        assert caught.value.__cause__ is None


def test_a_huge_value_is_not_repeated_whole() -> None:
    with pytest.raises(InvalidInput) as caught:
        knobs(mode="x" * 100_000)
    assert len(str(caught.value)) < 200


def test_an_integer_is_a_fine_number_and_becomes_one() -> None:
    assert repr(Knobs(share=1).share) == "1.0"


def test_words_become_values_of_the_fields_types() -> None:
    words = ["turns=3", " share = 1 ", "mode=none", "loud=TRUE", "max_calls=none", "warmth=None", "name=12", "name=a=b"]
    expected = {
        "turns": 3,
        "share": 1.0,
        "mode": "none",
        "loud": True,
        "max_calls": None,
        "warmth": None,
        "name": "a=b",
    }
    assert parse_assignments(Knobs, words) == expected
    assert parse_assignments(Knobs, ["max_calls=4", "name=12"]) == {"max_calls": 4, "name": "12"}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("turns", "key=value, not as 'turns'"),
        ("turns=many", "'turns' was given 'many'; it takes integer from 1 to 9"),
        ("turns=none", "'turns' was given None"),
        ("turns=12", "'turns' was given 12; it takes integer from 1 to 9"),
        ("share=nan", "'share' was given nan"),
        ("loud=perhaps", "'loud' was given 'perhaps'; it takes true or false"),
        ("mode=true", "'mode' was given True; it takes 'fast'"),
        ("truns=1", "Did you mean 'turns'?"),
    ],
)
def test_a_word_that_is_not_allowed_is_refused(word: Any, message: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_assignments(Knobs, [word])
    assert message in str(caught.value)


def test_a_partial_context_is_completed_by_what_the_graph_was_built_with() -> None:
    built = Knobs(turns=2, share=0.25, max_calls=6)
    schema = schema_of(built)
    assert isinstance(schema(), Knobs)
    assert schema(mode="slow").model_dump() == built.model_copy(update={"mode": "slow"}).model_dump()
    expected = Knobs(turns=2, share=0.25, mode="slow", max_calls=6)
    # As LangGraph hands a mapping over, as a host does, and as a caller whose types are checked does.
    for context in (schema(mode="slow"), {"mode": "slow"}, Knobs(mode="slow")):
        assert resolve(context, built) == expected


def test_a_value_that_is_given_counts_though_it_is_the_class_s_own() -> None:
    built = Knobs(turns=2)
    assert resolve(Knobs(turns=6), built) == resolve({"turns": 6}, built) == Knobs()


@pytest.mark.parametrize(
    "foreign", [None, {"tenant": "x"}, {"turns": 3, "tenant": "x"}, object(), RebelSettings(depth=1)]
)
def test_a_hosts_context_is_not_read(foreign: Any) -> None:
    built = Knobs(turns=2)
    assert resolve(foreign, built) is built


LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"max_calls": None, "max_tokens": None, "max_seconds": None}, {}),
    ({"max_calls": 6}, {}),
    ({"max_calls": 2, "max_seconds": 1}, {"max_calls": 2, "max_seconds": 1.0}),
]


@pytest.mark.parametrize(("asked", "lowered"), LIMITS)
def test_a_run_can_lower_a_limit_that_was_built_in(asked: Any, lowered: Any) -> None:
    built = Knobs(max_calls=6, max_tokens=900, max_seconds=2.5)
    for context in (asked, knobs(**asked), schema_of(built)(**asked)):
        assert resolve(context, built) == built.model_copy(update=lowered)
        assert within(built, knobs(**asked)) == built.model_copy(update=lowered)


@pytest.mark.parametrize(("name", "ceiling"), [("max_calls", 6), ("max_tokens", 6), ("max_seconds", 6.0)])
def test_no_run_can_raise_a_limit_that_was_built_in(name: Any, ceiling: Any) -> None:
    built = knobs(**{name: ceiling})
    context: Any
    for context in ({name: 7}, knobs(**{name: 7})):
        with pytest.raises(InvalidInput) as caught:
            resolve(context, built)
        assert f"Setting {name!r} was given 7" in str(caught.value)
        assert f" to {ceiling} or none. This graph's maker set that limit" in str(caught.value)
    assert within(built, knobs(**{name: 7})) == built
    assert within(built, Knobs(turns=3)) == knobs(turns=3, **{name: ceiling})


def test_without_a_limit_built_in_a_run_has_its_own() -> None:
    assert resolve({"max_calls": 7}, Knobs()) == within(Knobs(), Knobs(max_calls=7)) == Knobs(max_calls=7)


def test_settings_are_plain_data_and_quickly_built_from_it() -> None:
    settings = FurepaSettings(max_calls=3, temperature=None)
    data = settings.model_dump()
    assert json.loads(json.dumps(data)) == data
    assert FurepaSettings(**data) == settings
    assert settings.budget().calls == 3
    best = min(timeit.repeat(lambda: within(settings, FurepaSettings(**data)), number=200, repeat=5)) / 200
    assert best < 50e-6


@pytest.mark.parametrize("method", method_names())
def test_every_number_of_every_method_has_bounds_a_meaning_and_a_source(method: Any) -> None:
    for name, prop in properties(get_method(method).settings).items():
        for member in prop.get("anyOf", [prop]):
            if member.get("type") in {"integer", "number"}:
                assert {"minimum", "maximum"} <= member.keys(), name
        assert prop["source"]
        assert prop["description"].endswith(f"[{prop['source']}]")


def test_the_schema_shows_what_the_graph_was_built_with() -> None:
    schema = TypeAdapter(schema_of(Knobs(turns=2, mode="slow", max_calls=6))).json_schema()
    shown = schema["properties"]
    assert (schema["title"], schema["additionalProperties"]) == ("Knobs", False)
    assert {key: shown["turns"][key] for key in ("type", "minimum", "maximum", "default", "description")} == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 2,
        "description": "turns [test]",
    }
    assert (shown["mode"]["enum"], shown["mode"]["default"]) == (["fast", "slow", "none"], "slow")
    assert shown["max_calls"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 6}
    assert shown["max_calls"]["default"] == 6
    assert shown["max_tokens"]["anyOf"][0]["maximum"] == 1_000_000_000


def test_what_is_allowed_is_said_in_words() -> None:
    known = properties(Knobs)
    assert [allowed(known[name]) for name in ("mode", "warmth", "loud", "name")] == [
        "'fast' or 'slow' or 'none'",
        "number from 0.0 to 2.0 or none",
        "true or false",
        "text",
    ]


def test_the_command_line_starts_without_pydantic() -> None:
    code = "import sys, langgraph_evidence.cli.app; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
