"""What a declarative tool may be given: its parameters as a schema for the model, and the check of its arguments.

By hand and not by jsonschema, since arguments are read and not only judged: a number in quotes becomes one, every value
is bounded, and what goes into a URL or body is what was read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.tools import ToolException

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_CHARACTERS = 2_000
MAX_DEPTH = 8
MAX_DIGITS = 40
MAX_INTEGER = 2**63


@dataclass(frozen=True)
class Parameter:
    """One dynamic parameter: what the model fills in.

    Args:
        name: Its name, for the model and for the service.
        meaning: What it means, for the model.
        type: A type of JSON Schema.
        required: Whether a call without it is refused.
        enum: The values it takes; none for any.
    """

    name: str
    meaning: str
    type: str = "string"
    required: bool = True
    enum: tuple[Any, ...] = ()


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON Schema of the arguments; no others are allowed."""
    properties = {}
    for parameter in parameters:
        row: dict[str, Any] = {"type": parameter.type, "description": parameter.meaning}
        properties[parameter.name] = {**row, "enum": list(parameter.enum)} if parameter.enum else row
    required = [parameter.name for parameter in parameters if parameter.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def read_arguments(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call in their declared types; a number in quotes is read as one, null as not given.

    Raises:
        ToolException: An argument is unknown, missing, or not of its type; the message names all that are allowed.
    """
    known = {parameter.name: parameter for parameter in parameters}
    told = f"Its parameters: {', '.join(map(_words, parameters)) or 'none'}."
    for name in given:
        if name not in known:
            raise ToolException(f"There is no parameter {str(name)[:100]!r}. {told}")
    values = {}
    for name, parameter in known.items():
        value = given.get(name)
        if value is not None:
            values[name] = _value(parameter, value, told)
        elif parameter.required:
            raise ToolException(f"The parameter {name!r} is missing. {told}")
    return values


def shown(value: Any) -> str:
    """How a value that was refused begins."""
    try:
        return repr(value)[:100]
    except (ValueError, RecursionError):  # an integer of very many digits, a list of very many levels
        return f"so large a value ({type(value).__name__})"


def _words(parameter: Parameter) -> str:
    return f"{parameter.name} ({parameter.type}{'' if parameter.required else ', optional'})"


def _value(parameter: Parameter, value: Any, told: str) -> Any:
    try:
        read = READERS[parameter.type](value)
    except (ValueError, TypeError, OverflowError):
        raise ToolException(
            f"The parameter {parameter.name!r} takes {parameter.type}, not {shown(value)}. {told}"
        ) from None
    if parameter.enum and read not in parameter.enum:
        raise ToolException(f"The parameter {parameter.name!r} takes one of {list(parameter.enum)}, not {shown(read)}.")
    return read


def _string(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else str(_scalar(value))
    text.encode()  # half of a surrogate pair has no encoding
    if not text or len(text) > MAX_CHARACTERS:
        raise ValueError
    return text


def _scalar(value: Any) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    if (isinstance(value, str) and len(value) > MAX_DIGITS) or (isinstance(value, int) and abs(value) > MAX_INTEGER):
        raise ValueError
    return value


def _integer(value: Any) -> int:
    value = _scalar(value)
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    return int(_scalar(int(value)))


def _number(value: Any) -> float | int:
    number = float(_scalar(value))
    if not math.isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _boolean(value: Any) -> bool:
    read = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(read, bool):
        raise TypeError
    return read


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return list(_nested(value))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return dict(_nested(value))


def _nested(value: Any, depth: int = 0) -> Any:
    """A JSON value whose every part is plain and whose depth is bounded."""
    if depth > MAX_DEPTH:
        raise ValueError
    if isinstance(value, list):
        return [_nested(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {_string(name): _nested(part, depth + 1) for name, part in value.items()}
    if isinstance(value, str):
        value.encode()
    elif value is not None and not isinstance(value, bool):
        return _number(value)
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
