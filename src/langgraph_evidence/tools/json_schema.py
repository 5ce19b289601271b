"""The JSON schema of a tool's argument: what it allows in a few words, and why a value does not fit it.

A schema may come from a server that is not ours. Nothing in it is fetched, and nothing in it can take long: references
are put in from the schema itself and bounded, and regular expressions are left to the tool.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match

from langgraph_evidence.llm.prompt import quote

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_PARTS = 1_000
MAX_DEPTH = 12
MAX_NAME = 100
_SHOWN = 300
_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}
_VALUES = 20
# Without their regular expressions two options may both fit, which oneOf would refuse.
_LISTS = {"allOf": "allOf", "anyOf": "anyOf", "oneOf": "anyOf", "prefixItems": "prefixItems"}
_KEPT = {
    "type", "enum", "const", "required", "description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def plain(schema: Any) -> dict[str, Any]:
    """The schema with its own references put in, and nothing that would have to be fetched, run or followed for ever.

    What is left out is allowed here; the tool itself is what refuses it.

    Args:
        schema: A JSON schema, or anything that was given as one.
    """
    found = _Plain(schema).part(schema)
    return found if isinstance(found, dict) else {}


class _Plain:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MAX_PARTS

    def part(self, schema: Any, depth: int = 0) -> Any:
        self._left -= 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._left < 0:
            return schema is not False
        target = self.part(self._target(schema["$ref"]), depth + 1) if "$ref" in schema else {}
        found = dict(target) if isinstance(target, dict) else {}
        for name, value in schema.items():
            if name in _KEPT:
                found[name] = value
            elif name in _LISTS and isinstance(value, list):
                found[_LISTS[name]] = [self.part(option, depth + 1) for option in value]
            elif name == "properties" and isinstance(value, dict):
                # A name stands in prompts as it is, since the model has to write it: one that could be more is no name.
                names = [key for key in value if key.isprintable() and len(key) <= MAX_NAME]
                found[name] = {key: self.part(value[key], depth + 1) for key in names}
            elif name == "items" or (name == "additionalProperties" and "patternProperties" not in schema):
                found[name] = self.part(value, depth + 1)
        return found

    def _target(self, reference: Any) -> Any:
        """What a reference within the schema names; nothing for any other."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {}
        place = self._root
        for step in reference[1:].split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            place = place.get(name) if isinstance(place, dict) else None
        return place


def kind(schema: Any) -> str:
    """The one type of a plain schema, null aside, or "any"."""
    if not isinstance(schema, dict):
        return "any"
    options = schema.get("anyOf") or schema.get("allOf")
    if isinstance(options, list):
        kinds = {kind(option) for option in options} - {"null"}
        return kinds.pop() if len(kinds) == 1 else "any"
    found = schema.get("type")
    return found if isinstance(found, str) and found in _TYPES else "any"


def told(schema: Any) -> str:
    """What a plain schema allows, in words for a model."""
    return quote(_words(schema), limit=_SHOWN)


def _words(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    for name, link in (("anyOf", " or "), ("allOf", " and ")):
        if schema.get(name):
            return link.join(dict.fromkeys(_words(option) for option in schema[name]))
    if "const" in schema or isinstance(schema.get("enum"), list):
        values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]]
        shown = ", ".join(json.dumps(value, ensure_ascii=False)[:_SHOWN] for value in values[:_VALUES])
        return shown if len(values) == 1 else f"one of {shown}{', ...' * (len(values) > _VALUES)}"
    types = schema.get("type")
    name = " or ".join(map(str, types)) if isinstance(types, list) else str(types or "any")
    bounds = [words.format(schema[bound]) for bound, words in _BOUNDS.items() if bound in schema]
    return ", ".join([name + _inside(schema), *bounds])


def _inside(schema: dict[str, Any]) -> str:
    """What an array or an object holds."""
    fields, items = schema.get("properties"), schema.get("items")
    if isinstance(fields, dict) and fields:
        needed = schema["required"] if isinstance(schema.get("required"), list) else []
        rows = (
            f'"{name}": {_words(part)}{"" if name in needed else " (may be left out)"}' for name, part in fields.items()
        )
        return f" of {', '.join(rows)}"
    return f" of {_words(items)}" if isinstance(items, dict) and items else ""


def misfit(value: Any, schema: Any) -> str:
    """Why a value does not fit a plain schema, or nothing; a schema that is none allows anything.

    Args:
        value: An argument.
        schema: What `plain` made.
    """
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return ""
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return quote(_reason(error), limit=2 * _SHOWN) if error else ""


def _reason(error: ValidationError) -> str:
    place = "".join(f"/{step}" for step in error.absolute_path)
    where = f" (at {place[:_SHOWN]})" if place else ""
    if error.validator in {"required", "additionalProperties"}:
        return f"takes {told(error.schema)}{where}: {error.message}"
    by_type = error.validator in {"type", "anyOf"}
    found = type(error.instance).__name__ if by_type else json.dumps(error.instance, ensure_ascii=False)[:80]
    return f"takes {told(error.schema)}, not {found}{where}"
