"""The calculator: exact, bounded, and never an error of another kind."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException
from langchain_tests.unit_tests import ToolsUnitTests

from langgraph_evidence.tools.calculator import calculate, calculator_tool, tell


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 3", "0.333333333333333"),
        ("2 / 4", "0.5"),
        ("-2 ^ 2", "-4"),
        ("(-2) ^ 2", "4"),
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** -1", "0.5"),
        ("- - 1", "1"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 % 2", "1.5"),
        ("1e3 + .5", "1000.5"),
        ("2.", "2"),
        ("sqrt(16)", "4"),
        ("sqrt(2)", "1.4142135623731"),
        ("sqrt(1 / 4)", "0.5"),
        ("8 ^ (1/3)", "2"),
        ("round(10 / 3, 2)", "3.33"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(1234, -2)", "1200"),
        ("floor(-1.5) + ceil(1.2)", "0"),
        ("max(1, 2, 3) - min(4, 5)", "-1"),
        ("abs(-3)", "3"),
        ("pi", "3.14159265358979"),
        ("2 × 3 ÷ 4 − 1", "0.5"),
        ("2 ^ 100", "1267650600228229401496703205376"),
        ("1 / 10 ^ 20", "1E-20"),
        ("1979 - 1926", "53"),
    ],
)
def test_worked_values(expression: str, value: str) -> None:
    assert tell(calculate(expression)) == value


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "'its end' where a number"),
        ("1 +", "'its end' where a number"),
        ("1 2", "'2' where 'its end'"),
        ("(1", "where '\\)'"),
        ("1)", "'\\)' where 'its end'"),
        ("2 apples", "'apples'"),
        ("1,000", "','"),
        ("$5", "'\\$5'"),
        ("1 / 0", "divides by zero"),
        ("1 // 0", "divides by zero"),
        ("1 % (1 - 1)", "divides by zero"),
        ("0 ^ -1", "divides by zero"),
        ("sqrt(-1)", "negative"),
        ("(-8) ^ (1/3)", "negative"),
        ("sqrt()", "'\\)'"),
        ("sqrt(1, 2)", "at most 1"),
        ("round(1, 0.5)", "whole number of decimals"),
        ("round(1, 99)", "whole number of decimals"),
        ("9 ^ 9 ^ 9", "too large"),
        ("9 ^ 9999999999", "too large"),
        ("1e99999999", "too large"),
        ("(10 ^ 400) ^ 0.5", "too large"),
        ("1.5 ^ 10000.5", "too large"),
        ("(" * 60 + "1" + ")" * 60, "levels deep"),
        ("1" * 501, "at most 500"),
        ("__import__('os').system('true')", "__import"),
        ("lambda: 1", "': 1'"),
        ("[1][0]", "'\\[1\\]\\[0\\]'"),
        ("1 if 1 else 2", "'if'"),
        ("a.b", "'.b'"),
        ("１ + ١", "'１ \\+ ١'"),
    ],
)
def test_what_has_no_value_is_told(expression: str, reason: str) -> None:
    with pytest.raises(ToolException, match=reason):
        calculate(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "2^" * 200 + "2",
        "-" * 499 + "1",
        "(" * 49 + "9^999" + ")^9" * 49,
        "*".join(["9^2000"] * 70),
        "1/3+" * 120 + "1",
        "+" * 500,
    ],
)
def test_the_worst_expressions_take_no_time(expression: str) -> None:
    began = time.perf_counter()
    with suppress(ToolException):
        calculate(expression)
    assert time.perf_counter() - began < 0.5


NUMBERS = st.integers(-1000, 1000).map(str) | st.decimals(-1000, 1000, places=3).map(lambda value: f"{value:f}")
EXPRESSIONS = st.recursive(
    NUMBERS.map(lambda text: f"({text})"),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=10,
)


@given(EXPRESSIONS)
def test_it_agrees_with_fractions(expression: str) -> None:
    ours = expression
    theirs = re.sub(r"-?\d+(?:\.\d+)?", lambda match: f"Fraction('{match[0]}')", expression)
    try:
        expected = eval(theirs, {"Fraction": Fraction})  # noqa: S307 - our own strategy's text
    except ZeroDivisionError:
        with pytest.raises(ToolException, match="divides by zero"):
            calculate(ours)
        return
    assert calculate(ours) == expected


@given(st.decimals(-(10**12), 10**12, places=4), st.decimals(-(10**12), 10**12, places=4))
def test_it_agrees_with_decimals(left: Decimal, right: Decimal) -> None:
    assert Decimal(tell(calculate(f"{left:f} + {right:f}"))) == left + right


@given(st.text(max_size=60) | st.text(alphabet="0123456789.eE+-*/%^(), sqrtpiabsmaxround", max_size=80))
def test_any_text_has_a_value_or_is_refused(expression: str) -> None:
    try:
        value = calculate(expression)
    except ToolException:
        return
    assert len(tell(value)) < 3000


@given(st.none() | st.integers() | st.floats() | st.lists(st.integers()) | st.text(max_size=20))
def test_the_tool_tells_what_is_wrong(value: Any) -> None:
    message = calculator_tool().invoke(
        {"type": "tool_call", "id": "1", "name": "calculator", "args": {"expression": value}}
    )
    assert message.status in {"success", "error"}
    assert message.content


class TestStandard(ToolsUnitTests):
    @property
    def tool_constructor(self) -> BaseTool:
        return calculator_tool()

    @property
    def tool_invoke_params_example(self) -> dict[str, str]:
        return {"expression": "1 + 1"}
