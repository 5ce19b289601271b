"""Parameters that a server refuses by name: they are left out from then on."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from langgraph_evidence.retrying import status_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What is refused together: LangChain writes max_tokens by either name, and top_logprobs is nothing without logprobs.
_ALIKE = ("max_tokens", "max_completion_tokens")
_WITH: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("temperature", "seed", "stop", "n", "top_logprobs")},
    **dict.fromkeys(_ALIKE, _ALIKE),
    "logprobs": ("logprobs", "top_logprobs"),
}
_STATUSES = frozenset({400, 422})
# A name counts where it is quoted, called a parameter, or said to be or do something: `n` and `stop` are words too.
_NAMED = (
    r"['\"`]{0}['\"`]|param\w*\W+{0}\b"
    r"|(?<![\w\\]){0}\b\W{{0,2}}(?=[=<>]|(?:must|is|are|should|do|does|not|cannot|parameter)\b)"
)
# llama.cpp's words for an n above 1.
_NO_N = "one completion choice"
# What a prompt that is too long is told: it may name max_tokens, and says nothing about other prompts.
_TOO_LONG = "context length"


class Refusals:
    """What one model has refused so far; any number of threads may learn and ask."""

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def kept(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that were never refused."""
        return without(given, self._names)

    def learn(self, name: str) -> bool:
        """Remembers one; says whether it was new."""
        with self._lock:
            new = name not in self._names
            self._names |= {name}
        return new


def without(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The parameters without those named and what goes with them."""
    gone = {other for name in names for other in _WITH.get(name, (name,))}
    return {name: value for name, value in given.items() if name not in gone}


def refused_parameter(error: BaseException, sent: Iterable[str]) -> str | None:
    """The parameter, of those sent, that an HTTP 400 names in its `param` or else in its words."""
    if status_of(error) not in _STATUSES:
        return None
    known = {alias: name for name in sent if name in _WITH for alias in (_ALIKE if name in _ALIKE else (name,))}
    param = getattr(error, "param", None)
    if isinstance(param, str) and param not in {"", "None"}:
        return known.get(param)
    text = str(error)
    if _TOO_LONG in text.lower():
        return None
    if "n" in known and _NO_N in text.lower():
        return "n"
    places = {alias: found.start() for alias in known if (found := re.search(_NAMED.format(alias), text))}
    return known[min(places, key=places.__getitem__)] if places else None
