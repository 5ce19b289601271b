"""Settings: every value checked where it is set, names and values as words, contexts completed."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.settings import Settings, describe_type, parse_assignments, resolve, schema_of, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class Knobs(Settings):
    turns: int = setting(default=6, meaning="turns", source="test", low=1, high=9)
    share: float = setting(default=0.5, meaning="share", source="test", low=0.0, high=1.0)
    mode: Literal["fast", "slow"] = setting(default="fast", meaning="mode", source="test")
    loud: bool = setting(default=False, meaning="loud", source="test")
    limit: int | None = setting(default=None, meaning="limit", source="test", low=1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"turns": 0}, "Setting 'turns' was given 0; it takes a value of 1 to 9."),
        ({"limit": 0}, "Setting 'limit' was given 0; it takes a value of at least 1."),
        ({"turns": 2.5}, "Setting 'turns' was given 2.5; it takes int."),
        ({"turns": True}, "Setting 'turns' was given True; it takes int."),
        ({"share": float("nan")}, "Setting 'share' was given nan; it takes a value of 0.0 to 1.0."),
        ({"mode": "medium"}, "Setting 'mode' was given 'medium'; it takes 'fast' or 'slow'."),
        ({"limit": "3"}, "Setting 'limit' was given '3'; it takes int or none."),
        ({"truns": 3}, "There is no setting 'truns'. Did you mean 'turns'?"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(values: Any, message: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Knobs.from_mapping(values)
    assert str(caught.value).startswith(message)


def test_words_become_values_of_the_fields_types() -> None:
    words = ["turns=3", "share=1", "mode=slow", "loud=TRUE", "limit=none"]
    expected = {"turns": 3, "share": 1.0, "mode": "slow", "loud": True, "limit": None}
    assert parse_assignments(Knobs, words) == expected
    assert parse_assignments(Knobs, ["limit=4"]) == {"limit": 4}


@pytest.mark.parametrize("word", ["turns", "turns=many", "loud=perhaps", "nothing=1"])
def test_a_word_that_is_no_assignment_is_refused(word: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_assignments(Knobs, [word])


def test_a_partial_context_is_completed_by_what_the_graph_was_built_with() -> None:
    built = Knobs(turns=2, share=0.25)
    schema = schema_of(built)
    assert schema(mode="slow") == schema(turns=2, share=0.25, mode="slow", loud=False, limit=None)
    assert isinstance(schema(), Knobs)
    with pytest.raises(InvalidInput):
        schema(turns=99)
    assert resolve({"mode": "slow"}, built) == dataclasses.replace(built, mode="slow")


@pytest.mark.parametrize("foreign", [None, {"tenant": "x"}, object()])
def test_a_hosts_context_is_not_read(foreign: Any) -> None:
    built = Knobs(turns=2)
    assert resolve(foreign, built) is built


def test_types_are_described_in_words() -> None:
    assert describe_type(Literal["fast", "slow"]) == "'fast' or 'slow'"
    assert describe_type(int | None) == "int or none"
