"""Options of a method: one frozen class, the paper's values as defaults, every value checked where it is set.

The same class is the graph's `context_schema`, so a value can be changed for one run (`context={"iterations": 4}`), by
an assistant on LangGraph Server, or on the command line (`--set iterations=4`). One check stands behind all three, and
the JSON schema that the server and Studio show is made from what it checks.
"""

from __future__ import annotations

import difflib
import reprlib
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from langgraph_evidence.budget import Budget
from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

S = TypeVar("S", bound="Settings")


def setting(
    *, default: Any, meaning: str, source: str, low: float | None = None, high: float | None = None, limit: bool = False
) -> Any:
    """Declares one field of a settings class.

    Args:
        default: The value of a run that says nothing.
        meaning: What the value does, in a line.
        source: Where the default comes from: a paper's section or table, or `ours` with the reason.
        low: The smallest allowed value.
        high: The largest allowed value; every number has one.
        limit: Whether a value that the graph was built with is a ceiling, which a run can only lower.
    """
    extra: dict[str, Any] = {"source": source, "limit": True} if limit else {"source": source}
    return Field(default=default, description=f"{meaning} [{source}]", ge=low, le=high, json_schema_extra=extra)


class Settings(BaseModel):
    """The settings that every method has, and the base of its own.

    Which fields were given and which were left alone is remembered (`model_fields_set`): a context of `{"seed": 1}` and
    one of `Settings(seed=1)` change the same.

    Raises:
        InvalidInput: A name is unknown, or a value has the wrong type, is out of range, or is none of the choices.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    max_calls: int | None = setting(
        default=None, meaning="language-model calls of a run", source="ours", low=1, high=1_000_000, limit=True
    )
    max_tokens: int | None = setting(
        default=None, meaning="tokens in and out of a run", source="ours", low=1, high=1_000_000_000, limit=True
    )
    max_seconds: float | None = setting(
        default=None, meaning="seconds at work of a run; at most a week", source="ours", low=0, high=604_800, limit=True
    )
    seed: int | None = setting(
        default=None,
        meaning="seed sent with the calls; samples of one round count on from it",
        source="ours: not every server takes one",
        low=0,
        high=2_000_000_000,
    )
    citations: Literal["verified", "lexical"] = setting(
        default="verified",
        meaning="how quotes are chosen: a local model reads whether they entail the answer, or by shared words alone",
        source="ours: lexical is for hosts without the local extra, and trusts every answer that shares words",
    )
    min_support: float = setting(
        default=0.28,
        meaning="support from which an answer is given; needs verified citations",
        source="ours: on fold 7 it declines a tenth of the right answers (docs/trust.md)",
        low=0.0,
        high=1.0,
    )
    if_unsupported: Literal["decline", "guess"] = setting(
        default="decline",
        meaning="what is answered below min_support: nothing, or the guess, both with stopped='unsupported'",
        source="ours",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _refusal(type(self), error) from None

    def budget(self) -> Budget:
        """What a run with these settings may spend."""
        return Budget(calls=self.max_calls, tokens=self.max_tokens, seconds=self.max_seconds)


@cache
def properties(settings: type[Settings]) -> dict[str, dict[str, Any]]:
    """The JSON schema of every setting by its name, the method's own before those that every method has."""
    found: dict[str, dict[str, Any]] = settings.model_json_schema()["properties"]
    return {name: found[name] for name in sorted(found, key=lambda name: name in Settings.model_fields)}


def allowed(prop: dict[str, Any]) -> str:
    """Says in words what a setting takes: `integer from 1 to 9 or none`, `'both' or 'none'`."""
    return " or ".join(_words(member) for member in prop.get("anyOf", [prop]))


def _words(member: dict[str, Any]) -> str:
    if "enum" in member:
        return " or ".join(map(repr, member["enum"]))
    named = {"null": "none", "boolean": "true or false", "string": "text"}.get(member["type"], member["type"])
    return (
        f"{named} from {member['minimum']} to {member['maximum']}" if {"minimum", "maximum"} <= member.keys() else named
    )


def _refusal(settings: type[Settings], error: ValidationError) -> InvalidInput:
    """The first thing that is wrong: which setting, what it was given, and what it takes."""
    first, known = error.errors(include_url=False)[0], properties(settings)
    name = str(first["loc"][0])
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return InvalidInput(f"There is no setting {reprlib.repr(name)}.{hint} Known settings: {', '.join(known)}.")
    told = f"Setting {name!r} was given {reprlib.repr(first['input'])}; it takes {allowed(known[name])}."
    built_in = known[name].get("limit") and known[name]["default"] is not None
    return InvalidInput(f"{told} This graph's maker set that limit; a run can only lower it." if built_in else told)


def schema_of(settings: S) -> type[S]:
    """A settings class whose field defaults are the values of `settings`, and whose limits end at them.

    As a graph's `context_schema` it shows what the graph was built with.
    """
    return cast("type[S]", _schema_of(settings))


@lru_cache
def _schema_of(settings: Settings) -> type[Settings]:
    base = type(settings)
    fields: dict[str, Any] = {}
    for name, value in settings:
        info = base.model_fields[name]
        ceiling = [Field(le=value)] if name in _limits(base) and value is not None else []
        fields[name] = (Annotated[info.annotation, info, *ceiling], value)
    return create_model(base.__name__, __base__=base, __module__=base.__module__, __doc__=base.__doc__, **fields)


@cache
def _limits(settings: type[Settings]) -> tuple[str, ...]:
    return tuple(name for name, prop in properties(settings).items() if prop.get("limit"))


def resolve(context: object, default: S) -> S:
    """The settings of this run: what the context gives, whether a mapping or settings, and else what was built in.

    A limit that was built in is a ceiling: none keeps it, and more is refused. A graph nested in another application
    sees that application's context object; it is not ours to read.

    Raises:
        InvalidInput: A value is not allowed, or is above a limit that the graph was built with.
    """
    given: dict[str, Any] = {}
    if isinstance(context, type(default)):
        given = context.model_dump(exclude_unset=True)
    elif isinstance(context, dict) and properties(type(default)).keys() >= context.keys():
        given = context
    if not given:
        return default
    changes = {name: value for name, value in given.items() if value is not None or name not in _limits(type(default))}
    return default.model_copy(update=schema_of(default)(**changes).model_dump())


def within(limits: S, settings: S) -> S:
    """The settings with every limit lowered to that of `limits`, for settings that somebody may have edited."""
    lowered: dict[str, Any] = {}
    for name in _limits(type(limits)):
        ceiling, asked = getattr(limits, name), getattr(settings, name)
        if ceiling is not None:
            lowered[name] = ceiling if asked is None else min(asked, ceiling)
    return settings.model_copy(update=lowered)


def parse_assignments(settings: type[Settings], assignments: Iterable[str]) -> dict[str, Any]:
    """Reads `key=value` words as values of the fields' types.

    Raises:
        InvalidInput: A word without `=`, an unknown name, or a value that is not allowed.
    """
    return settings(**dict(_parsed(settings, assignments))).model_dump(exclude_unset=True)


def _parsed(settings: type[Settings], assignments: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for assignment in assignments:
        name, separator, text = (part.strip() for part in assignment.partition("="))
        if not separator:
            raise InvalidInput(f"A setting is given as key=value, not as {assignment!r}.")
        prop = properties(settings).get(name, {})
        texts = (member for member in prop.get("anyOf", [prop]) if member.get("type") == "string")
        yield name, text if any(text in member.get("enum", [text]) for member in texts) else _value(text)


def _value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
