"""Options that several commands take, and what is read from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from langgraph_evidence.methods import Method
    from langgraph_evidence.settings import Settings

InFlight = Literal["repeat", "skip"]

MethodOption = Annotated[str, typer.Option(help="The method; `evidence methods` lists them.")]
ModelOption = Annotated[str, typer.Option(help="'offline', 'smollm2', or provider:model as LangChain names it.")]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the method; may be repeated.")
]
DbOption = Annotated[Path | None, typer.Option(help="The SQLite file that --thread is kept in.", dir_okay=False)]
InFlightOption = Annotated[
    InFlight | None,
    typer.Option(help="Of a tool that was in use when the thread broke off and must not be used twice."),
]


class Thread(NamedTuple):
    """Where a run is kept, and what becomes of a tool that was in use when it broke off."""

    name: str
    db: Path
    in_flight: InFlight | None


def read_settings(method: Method, assignments: list[str], limits: dict[str, Any]) -> Settings:
    """The settings of a run from `key=value` words and the limits that were given.

    Raises:
        InvalidInput: A name or a value is not allowed.
    """
    from langgraph_evidence.settings import parse_assignments

    given = {name: value for name, value in limits.items() if value is not None}
    return method.settings(**{**parse_assignments(method.settings, assignments), **given})


def read_words(assignments: list[str] | None) -> dict[str, str]:
    """The words of `key=value`, by key.

    Raises:
        InvalidInput: A word has no `=`.
    """
    pairs = [assignment.partition("=") for assignment in assignments or ()]
    wrong = [key for key, separator, _ in pairs if not separator]
    if wrong:
        raise InvalidInput(f"An option is given as key=value, not as {wrong[0]!r}.")
    return {key.strip(): value.strip() for key, _, value in pairs}
