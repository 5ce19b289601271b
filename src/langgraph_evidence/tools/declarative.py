"""Tools as data: a TOML file with REBEL's five fields makes a tool, and a bad file is refused by line and reason.

description = "The weather at a place now."
method = "GET"
url = "https://api.example.org/{country}/weather"

[dynamic_params]
country = "A country's two letters"
latitude = { meaning = "Degrees north", type = "number", required = false }

[static_params]
units = "metric"
key = { env = "WEATHER_KEY" }
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError, ToolError
from langgraph_evidence.tools.parameters import READERS, Parameter, shown
from langgraph_evidence.tools.urls import PLACEHOLDER, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_BYTES = 65_536
METHODS = ("GET", "POST")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_REQUIRED = ("description", "method", "url")
_FIELDS = (*_REQUIRED, "dynamic_params", "static_params", "idempotent")
_OPTIONS = ("meaning", "type", "required", "enum")
_IN_URLS = ("string", "integer", "number", "boolean")


@dataclass(frozen=True)
class EnvironmentReference:
    """A secret by the name of the environment variable that holds it."""

    name: str


Static = str | int | float | bool | EnvironmentReference


@dataclass(frozen=True)
class ToolSpec:
    """A declarative tool (REBEL, section 3.5): the model sees the description and the dynamic parameters alone.

    Args:
        name: Its name, for the model; a file's own.
        description: What it does, for the model.
        method: GET or POST.
        url: Where it is; `{name}` is a place for a parameter, others go to the query (GET) or the JSON body (POST).
        dynamic_params: What the model fills in.
        static_params: What every request holds; a secret is a reference.
        idempotent: Whether asking twice does no harm.
    """

    name: str
    description: str
    method: str
    url: str
    dynamic_params: tuple[Parameter, ...]
    static_params: Mapping[str, Static]
    idempotent: bool

    @property
    def secrets(self) -> list[str]:
        """The environment variables that it refers to."""
        return [value.name for value in self.static_params.values() if isinstance(value, EnvironmentReference)]


class _Fault(Exception):
    """A reason and the keys that lead to what it is about."""

    def __init__(self, reason: str, *keys: str) -> None:
        super().__init__(reason)
        self.keys = keys


def read_tool_file(path: Path) -> ToolSpec:
    """Reads one file; the tool is called as the file is.

    Raises:
        ResourceError: The file cannot be read or is no tool; the message names its line and the reason.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror or error}).") from error
    return parse_tool(data, name=path.stem, source=str(path))


def parse_tool(data: bytes, *, name: str, source: str) -> ToolSpec:
    """Reads the text of a tool file.

    Args:
        data: TOML in UTF-8.
        name: What the tool is called.
        source: What messages call the file.

    Raises:
        ResourceError: `source:line: reason`.
    """
    try:
        text = _decode(data)
        table = _load(text)
    except _Located as error:
        raise ResourceError(f"{source}:{error.line}: {error}") from None
    try:
        return _spec(name, table)
    except _Fault as fault:
        raise ResourceError(f"{source}:{_line_of(text, fault.keys)}: {fault}") from None


class _Located(Exception):
    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _Located(f"the file has more than {MAX_BYTES:,} bytes.", 1)
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _Located("the file is not UTF-8.", data.count(b"\n", 0, error.start) + 1) from None


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _Located("it is nested too deeply.", 1) from None
    except ValueError as error:  # tomllib's own error, and that of an integer with too many digits
        reason, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1 if place else 1
        raise _Located(f"not TOML: {reason[:200]}.", line) from None


_HEADER = re.compile(r"\s*\[\[?([^\[\]=]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line of the first key or header at or under a path of keys, or else that of its parent."""
    if not keys:
        return 1
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header, key = _HEADER.fullmatch(line), _KEY.match(line)
        if header:
            place = table = _parts(header[1])
        elif key:
            place = (*table, *_parts(key[1]))
        else:
            continue
        if place[: len(keys)] == keys:
            return number
    return _line_of(text, keys[:-1])


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(match[1] or match[2] or match[3] or "" for match in _PART.finditer(dotted))


def _spec(name: str, table: dict[str, Any]) -> ToolSpec:
    if not NAME.fullmatch(name):
        raise _Fault(f"a tool is called as its file; {name[:80]!r} is not letters, digits, '_' and '-' (at most 64).")
    _check_names(table, _FIELDS, ())
    missing = [field for field in _REQUIRED if field not in table]
    if missing:
        raise _Fault(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing.")
    method = table["method"]
    if method not in METHODS:
        raise _Fault(f"method is {shown(method)}; it takes 'GET' or 'POST'.", "method")
    dynamic = tuple(_parameter(name, value, method) for name, value in _table(table, "dynamic_params").items())
    static = {name: _static(name, value) for name, value in _table(table, "static_params").items()}
    for parameter in dynamic:
        if parameter.name in static:
            raise _Fault(f"{parameter.name!r} is dynamic as well as static.", "static_params", parameter.name)
    return ToolSpec(
        name=name,
        description=_text(table["description"], "description"),
        method=method,
        url=_url(table["url"], dynamic, static),
        dynamic_params=dynamic,
        static_params=static,
        idempotent=_boolean(table.get("idempotent", method == "GET"), "idempotent"),
    )


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], keys: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise _Fault(f"{name[:80]!r} is not known here; known are {', '.join(known)}.", *keys, name)


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise _Fault(f"{name} is a table of names and values, as in [{name}].", name)
    return value


def _text(value: Any, *keys: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Fault(f"{keys[-1]} is {shown(value)}; it takes a text.", *keys)
    return value.strip()


def _boolean(value: Any, *keys: str) -> bool:
    if not isinstance(value, bool):
        raise _Fault(f"{keys[-1]} is {shown(value)}; it takes true or false.", *keys)
    return value


def _parameter(name: str, value: Any, method: str) -> Parameter:
    keys = ("dynamic_params", name)
    if not NAME.fullmatch(name):
        raise _Fault(f"the parameter {name[:80]!r} is not named by letters, digits, '_' and '-' (at most 64).", *keys)
    if isinstance(value, str):
        return Parameter(name, _text(value, *keys))
    if not isinstance(value, dict):
        raise _Fault(f"{name} is {shown(value)}; it takes what it means, or a table with `meaning`.", *keys)
    _check_names(value, _OPTIONS, keys)
    kind = value.get("type", "string")
    kinds = tuple(READERS) if method == "POST" else _IN_URLS
    if kind not in kinds:
        raise _Fault(f"the type of {name} is {shown(kind)}; with {method} it takes {', '.join(kinds)}.", *keys, "type")
    return Parameter(
        name,
        _text(value.get("meaning"), *keys, "meaning"),
        type=kind,
        required=_boolean(value.get("required", True), *keys, "required"),
        enum=_enum(value.get("enum"), kind, keys),
    )


def _enum(values: Any, kind: str, keys: tuple[str, ...]) -> tuple[Any, ...]:
    if values is None:
        return ()
    try:
        read = tuple(READERS[kind](value) for value in values) if isinstance(values, list) else ()
    except (ValueError, TypeError, OverflowError):
        read = ()
    if not read or kind in {"array", "object"}:
        raise _Fault(f"enum is {shown(values)}; it takes a list of values of the type {kind}.", *keys, "enum")
    return read


def _static(name: str, value: Any) -> Static:
    keys = ("static_params", name)
    if not name or not name.isprintable() or len(name) > 100:
        raise _Fault(f"the parameter {name[:80]!r} is not a printable name.", *keys)
    if isinstance(value, dict):
        reference = value.get("env")
        if set(value) != {"env"} or not isinstance(reference, str) or not re.fullmatch(r"[A-Za-z_]\w*", reference):
            raise _Fault(f'{name} is a table; a secret is written {{ env = "NAME_OF_THE_VARIABLE" }}.', *keys)
        return EnvironmentReference(reference)
    if not isinstance(value, str | int | float | bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise _Fault(f"{name} is {shown(value)}; it takes a text, a number, true or false, or a secret.", *keys)
    return value


def _url(value: Any, dynamic: tuple[Parameter, ...], static: Mapping[str, Static]) -> str:
    url = _text(value, "url")
    scheme, separator, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if separator and ("{" in scheme or "{" in authority):
        raise _Fault("a {placeholder} of url stands in its path or query, not in its host.", "url")
    if "#" in url:
        raise _Fault("url ends in a fragment (#...), which is never sent.", "url")
    required = {parameter.name for parameter in dynamic if parameter.required} | set(static)
    for name in PLACEHOLDER.findall(url):
        if name not in required:
            raise _Fault(f"the place {{{name[:80]}}} of url is no static or required dynamic parameter.", "url")
    try:
        parse_url(PLACEHOLDER.sub("x", url))
    except ToolError as error:
        raise _Fault(f"url is refused: {error}", "url") from None
    return url
