"""Options of a method: one frozen dataclass, the paper's values as defaults, every value checked where it is set.

The same class is the graph's `context_schema`, so a value can be changed for one run (`context={"iterations": 4}`), by
an assistant on LangGraph Server, or on the command line (`--set iterations=4`).
"""

from __future__ import annotations

import dataclasses
import difflib
import types
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from langgraph_evidence.budget import Budget
from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

S = TypeVar("S", bound="Settings")


def setting(*, default: Any, meaning: str, source: str, low: float | None = None, high: float | None = None) -> Any:
    """Declares one field of a settings class.

    Args:
        default: The value of a run that says nothing.
        meaning: What the value does, in a line.
        source: Where the default comes from: a paper's section or table, or `ours` with the reason.
        low: The smallest allowed value.
        high: The largest allowed value.
    """
    metadata = {"description": meaning, "source": source, "low": low, "high": high}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of every method's settings.

    Raises:
        InvalidInput: A value has the wrong type, is out of range, or is none of the allowed words.
    """

    def __post_init__(self) -> None:
        hints = _hints(type(self))
        for item in fields(self):
            _check(item.name, getattr(self, item.name), hints[item.name], item.metadata)

    def budget(self) -> Budget:
        """What a run with these settings may spend."""
        limits: Any = self
        return Budget(calls=limits.max_calls, tokens=limits.max_tokens, seconds=limits.max_seconds)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Builds settings from names and values; an unknown name is refused with the nearest known one."""
        check_names(cls, values)
        return cls(**values)


def check_names(settings: type[Settings], names: Iterable[str]) -> None:
    """Refuses a name that is no field of these settings.

    Raises:
        InvalidInput: With the nearest known name and all of them.
    """
    known = [item.name for item in fields(settings)]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(f"There is no setting {name!r}.{hint} Known settings: {', '.join(known)}.")


# Kept, because a graph checks its settings at every step. A class is hashable, which mypy does not see.
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)


def _fits(value: Any, annotation: Any) -> bool:
    if get_origin(annotation) is Literal:
        return value in get_args(annotation)
    if annotation is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, annotation)


def describe_type(annotation: Any) -> str:
    """Says in words what a field takes: `int`, `none or float`, `'both' or 'none'`."""
    words: list[str] = []
    for member in _members(annotation):
        if get_origin(member) is Literal:
            words.extend(repr(option) for option in get_args(member))
        else:
            words.append("none" if member is type(None) else member.__name__)
    return " or ".join(words)


def _check(name: str, value: Any, annotation: Any, metadata: Mapping[str, Any]) -> None:
    if not any(_fits(value, member) for member in _members(annotation)):
        raise InvalidInput(f"Setting {name!r} was given {value!r}; it takes {describe_type(annotation)}.")
    low, high = metadata.get("low"), metadata.get("high")
    if isinstance(value, int | float) and not isinstance(value, bool):
        inside = (low is None or value >= low) and (high is None or value <= high)
        if not inside or value != value:
            bounds = f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"
            raise InvalidInput(f"Setting {name!r} was given {value!r}; it takes a value of {bounds}.")


def schema_of(settings: S) -> type[S]:
    """A settings class whose field defaults are the values of `settings`.

    As a graph's `context_schema` it lets LangGraph complete a partial `context` with the values that the graph was
    built with, not with the class's own.
    """
    base = type(settings)
    hints = _hints(base)
    overrides = [
        (item.name, hints[item.name], field(default=getattr(settings, item.name), metadata=item.metadata))
        for item in fields(base)
    ]
    schema = dataclasses.make_dataclass(base.__name__, overrides, bases=(base,), frozen=True, kw_only=True)
    schema.__module__ = base.__module__
    schema.__doc__ = base.__doc__
    return schema


def resolve(context: object, default: S) -> S:
    """The settings of this run: the context when it is ours, completed when it is a mapping, else what was built in.

    A graph nested in another application sees that application's context object; it is not ours to read.
    """
    if isinstance(context, type(default)):
        return context
    if isinstance(context, dict):
        known = {item.name for item in fields(default)}
        if known.issuperset(context):
            return dataclasses.replace(default, **context)
    return default


def within(limits: S, settings: S) -> S:
    """Shim."""
    return settings


def parse_assignments(settings: type[Settings], assignments: Iterable[str]) -> dict[str, Any]:
    """Reads `key=value` words as values of the fields' types.

    Raises:
        InvalidInput: A word without `=`, an unknown name, or a value that is not of the field's type.
    """
    hints = _hints(settings)
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator:
            raise InvalidInput(f"A setting is given as key=value, not as {assignment!r}.")
        check_names(settings, [name.strip()])
        values[name.strip()] = _parse(name.strip(), text.strip(), hints[name.strip()])
    return values


_WORDS = {"true": True, "false": False}


def _parse(name: str, text: str, annotation: Any) -> Any:
    for member in _members(annotation):
        value = _parse_member(text, member)
        if value is not _NO_VALUE:
            return value
    raise InvalidInput(f"Setting {name!r} was given {text!r}; it takes {describe_type(annotation)}.")


_NO_VALUE = object()


def _parse_member(text: str, member: Any) -> Any:
    if get_origin(member) is Literal:
        return next((option for option in get_args(member) if str(option) == text), _NO_VALUE)
    if member is bool:
        return _WORDS.get(text.lower(), _NO_VALUE)
    if member is type(None):
        return None if text.lower() == "none" else _NO_VALUE
    try:
        return member(text)
    except ValueError:
        return _NO_VALUE
