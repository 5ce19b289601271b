"""Secrets of tools: known by reference, fetched when a request is made, and taken out of everything that comes back."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from langgraph_evidence.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHORTEST = 4


class Vault:
    """Looks secrets up; it never shows them.

    Args:
        environment: Values by name, as `os.environ` has them; read again at each request.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def get(self, name: str) -> str:
        """The value of a secret.

        Raises:
            ToolError: There is none, or it is none that could be kept out of the texts that come back.
        """
        value = self._environment.get(name, "")
        if not value:
            raise ToolError(f"The environment variable {name} is not set; it holds a secret of this tool.")
        if len(value) < SHORTEST or not value.isprintable() or not value.strip():
            raise ToolError(
                f"The environment variable {name} holds fewer than {SHORTEST} characters, or an invisible one such as "
                "an end of line; set it to the secret alone."
            )
        return value

    def redact(self, text: str, names: Iterable[str], *, cut: bool = False) -> str:
        """The text with each of the secrets, as it is or encoded, replaced by its name.

        Args:
            text: What came back.
            names: The secrets that the request held.
            cut: Whether the text was cut off, so that it may end within a secret.
        """
        for name in names:
            forms = sorted(_forms(self._environment.get(name, "")), key=len, reverse=True)
            if not forms:
                continue
            if cut:
                text = text[: max(len(text) - len(forms[0]), 0)]
            text = re.sub("|".join(map(re.escape, forms)), f"[secret {name}]", text, flags=re.IGNORECASE)
        return text


def _forms(value: str) -> set[str]:
    """The ways in which an honest service repeats what it was sent."""
    if len(value) < SHORTEST:
        return set()
    told, plainly = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
    encoded = quote(value, safe="")
    return {
        value,
        told,
        told.replace("/", "\\/"),
        plainly,
        json.dumps(told)[1:-1],  # the body of a request, repeated as a text in the JSON of a reply
        json.dumps(plainly)[1:-1],
        json.dumps(plainly, ensure_ascii=False)[1:-1],
        encoded,
        quote(value),
        quote_plus(value),
        quote(encoded, safe=""),
        b64encode(value.encode()).decode(),
        value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    }
