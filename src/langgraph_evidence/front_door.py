"""Front doors: what a folder offers, loaded when it is first asked for, so that naming it costs nothing heavy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names lie in its modules.

    Args:
        package: The package's `__name__`.
        homes: The names of each module, relative to the package, separated by spaces.
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it offers {', '.join(sorted(home_of))}"
            )
        return getattr(import_module(home_of[name]), name)

    return get
