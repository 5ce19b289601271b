"""Arithmetic as a tool: a small parser over exact fractions, bounded in length, depth and the size of numbers."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from langgraph_evidence.tools.parameters import Parameter, read_arguments, schema

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARACTERS = 500
MAX_DEPTH = 50
MAX_BITS = 8_192
_DIGITS = 15
_EXACT_DIGITS = 40
_EXPRESSION = Parameter("expression", "Numbers and signs, no units and no words.")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z]+)|(?P<sign>\*\*|//|[-+*/%^(),]))"
)
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-"})
_CONSTANTS = {"pi": Fraction(math.pi), "e": Fraction(math.e)}
_SUMS = {"+", "-"}
_PRODUCTS = {"*", "/", "//", "%"}
_POWERS = {"**", "^"}


def calculate(expression: str) -> Fraction:
    """The value of an arithmetic expression; exact, but for roots and powers that are not.

    Args:
        expression: Numbers, `+ - * / // % ** ^`, parentheses, `pi`, `e`, and the functions `sqrt abs round floor ceil
            min max`.

    Raises:
        ToolException: It is none, is too large, or has no value.
    """
    if len(expression) > MAX_CHARACTERS:
        raise ToolException(f"The expression has {len(expression):,} characters; at most {MAX_CHARACTERS} are allowed.")
    parser = _Parser(_tokens(expression.translate(_SIGNS)))
    value = parser.sum(0)
    parser.expect("")
    return value


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ToolException(
                f"The expression has {text[place:].strip()[:20]!r} where a number or a sign is expected."
            )
        found.append(match[0].strip())
        place = match.end()
    return [*found, ""]


# By hand, since `ast` (and simpleeval, built on it) reads 0.1 as a float, refuses 007 and takes 1,000 for a pair: the
# tokens have to be read here anyway, it saved 40 lines, and nine messages no longer said what stands where.
class _Parser:
    """Recursive descent; every value is checked as it is made, so that none can grow without bound."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def _take(self) -> str:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _next(self) -> str:
        return self._tokens[self._place]

    def expect(self, token: str) -> None:
        if self._next() != token:
            raise ToolException(
                f"The expression has {self._next() or 'its end'!r} where {token or 'its end'!r} is expected."
            )
        self._place += 1

    def sum(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise ToolException(f"The expression is nested more than {MAX_DEPTH} levels deep.")
        value = self._product(depth)
        while self._next() in _SUMS:
            value = _apply(self._take(), value, self._product(depth))
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._signed(depth)
        while self._next() in _PRODUCTS:
            value = _apply(self._take(), value, self._signed(depth))
        return value

    def _signed(self, depth: int) -> Fraction:
        sign = 1
        while self._next() in _SUMS:
            sign = -sign if self._take() == "-" else sign
        return sign * self._power(depth)

    def _power(self, depth: int) -> Fraction:
        base = self._atom(depth)
        if self._next() in _POWERS:
            self._take()
            if depth >= MAX_DEPTH:
                raise ToolException(f"The expression is nested more than {MAX_DEPTH} levels deep.")
            # Powers bind to the right: 2^3^2 is 2^9.
            return _checked(_power(base, self._signed(depth + 1)))
        return base

    def _atom(self, depth: int) -> Fraction:
        token = self._take()
        if token == "(":
            value = self.sum(depth + 1)
            self.expect(")")
            return value
        if token[:1].isdigit() or token[:1] == ".":
            return _number(token)
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if token in _FUNCTIONS:
            return self._function(token, depth)
        raise ToolException(
            f"The expression has {token or 'its end'!r} where a number is expected; it knows "
            f"{', '.join([*_CONSTANTS, *_FUNCTIONS])}."
        )

    def _function(self, name: str, depth: int) -> Fraction:
        self.expect("(")
        values = [self.sum(depth + 1)]
        while self._next() == ",":
            self._take()
            values.append(self.sum(depth + 1))
        self.expect(")")
        most, function = _FUNCTIONS[name]
        if len(values) > most:
            raise ToolException(f"{name} takes at most {most} values; it was given {len(values)}.")
        return _checked(function(values))


def _number(token: str) -> Fraction:
    exponent = re.split(r"[eE]", token)[1:]
    if exponent and abs(int(exponent[0])) > MAX_BITS // 4:
        raise _too_large()
    return _checked(Fraction(token))


def _apply(sign: str, left: Fraction, right: Fraction) -> Fraction:
    if right == 0 and sign in {"/", "//", "%"}:
        raise ToolException("The expression divides by zero.")
    operations: dict[str, Callable[[], Fraction | int]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
        "//": lambda: left // right,
        "%": lambda: left % right,
    }
    return _checked(Fraction(operations[sign]()))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent < 0:
        raise ToolException("The expression divides by zero.")
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in {-1, 0, 1} and bits * abs(exponent.numerator) > 2 * MAX_BITS:
            raise _too_large()
        return _small_power(base, exponent.numerator)
    if base < 0:
        raise ToolException("A negative number has no such root among the real numbers.")
    try:
        return Fraction(float(base) ** float(exponent))
    except (OverflowError, ValueError):
        raise _too_large() from None


def _small_power(base: Fraction, exponent: int) -> Fraction:
    if base in {0, 1}:
        return base if exponent else Fraction(1)
    if base == -1:
        return Fraction(-1 if exponent % 2 else 1)
    return Fraction(base**exponent)


def _root(values: list[Fraction]) -> Fraction:
    value = values[0]
    if value < 0:
        raise ToolException("A negative number has no square root among the real numbers.")
    exact = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return exact if exact * exact == value else _power(value, Fraction(1, 2))


def _round(values: list[Fraction]) -> Fraction:
    """To the nearest; a half goes away from zero, as people round."""
    places = values[1] if len(values) > 1 else Fraction(0)
    if places.denominator != 1 or abs(places) > _DIGITS:
        raise ToolException(f"round takes a whole number of decimals, at most {_DIGITS}.")
    scale = Fraction(10) ** int(places)
    nearest = math.floor(abs(values[0]) * scale + Fraction(1, 2)) / scale
    return -nearest if values[0] < 0 else nearest


_FUNCTIONS: dict[str, tuple[int, Callable[[list[Fraction]], Fraction]]] = {
    "sqrt": (1, _root),
    "abs": (1, lambda values: abs(values[0])),
    "round": (2, _round),
    "floor": (1, lambda values: Fraction(math.floor(values[0]))),
    "ceil": (1, lambda values: Fraction(math.ceil(values[0]))),
    "min": (MAX_CHARACTERS, min),
    "max": (MAX_CHARACTERS, max),
}


def _checked(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise _too_large()
    return value


def _too_large() -> ToolException:
    return ToolException("The expression makes too large a number.")


def tell(value: Fraction) -> str:
    """A value in decimals: in full where it has few, else to fifteen significant digits."""
    if value.denominator == 1:
        return str(value.numerator)
    exactly = Context(prec=_EXACT_DIGITS)
    shown = exactly.divide(Decimal(value.numerator), Decimal(value.denominator))
    if exactly.flags[Inexact]:
        shown = Context(prec=_DIGITS).plus(shown).normalize()
    return f"{shown:f}" if -_DIGITS < shown.adjusted() < 2 * _DIGITS else str(shown)


def calculator_tool(*, name: str = "calculator") -> BaseTool:
    """Makes a tool that works out arithmetic; what is wrong with an expression is told to the model that gave it.

    Args:
        name: The tool's name, as the agent's model calls it.
    """

    def run(**given: Any) -> str:
        return tell(calculate(read_arguments([_EXPRESSION], given)["expression"]))

    return StructuredTool.from_function(
        run,
        name=name,
        description="Works out arithmetic, such as (1.5 + 2) * 3^2, sqrt(2) or round(10 / 3, 2).",
        args_schema=schema([_EXPRESSION]),
        handle_tool_error=True,
    )
