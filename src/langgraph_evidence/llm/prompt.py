"""Prompts as data: named messages with declared `$variables`, checked when written and when filled."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from string import Template
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langchain_core.messages import BaseMessage

_ROLES: dict[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "human": HumanMessage,
    "user": HumanMessage,
    "ai": AIMessage,
    "assistant": AIMessage,
}


@dataclass(frozen=True)
class Prompt:
    """A chat prompt whose templates hold `$name` or `${name}` where a value goes in.

    Every other character stands for itself, except that a dollar before a letter is written `$$`. Values go in as they
    are: a `$name` inside a value is text.

    Args:
        name: What errors, traces and models that read prompts call it, e.g. `furepa.next`.
        messages: Pairs of a role (system, human, ai) and a template; few-shot examples are human and ai turns.
        variables: The names that the templates use, no more and no fewer.
        shown: How a value that is not text or a number is written, by variable: a list of facts, a table of tools.

    Raises:
        InvalidInput: No message, an unknown role, or templates that use other names than those declared.
    """

    name: str
    messages: tuple[tuple[str, str], ...]
    variables: tuple[str, ...] = ()
    shown: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.messages:
            raise InvalidInput(f"Prompt {self.name!r} has no messages; give it at least one (role, template) pair.")
        used: set[str] = set()
        for role, template in self.messages:
            if role not in _ROLES:
                raise InvalidInput(
                    f"Prompt {self.name!r} has a message of role {role!r}; it takes {', '.join(_ROLES)}."
                )
            used.update(Template(template).get_identifiers())
        self._check(used, "uses")

    def render(self, **values: Any) -> list[BaseMessage]:
        """Fills the templates.

        Args:
            **values: One value for each declared variable.

        Raises:
            InvalidInput: A variable is missing or was never declared, or a value that nothing shows is neither text nor
                a number.
        """
        self._check(set(values), "was given")
        words = {name: self._words(name, value) for name, value in values.items()}
        return [_ROLES[role](Template(text).safe_substitute(words)) for role, text in self.messages]

    def _words(self, name: str, value: Any) -> str | int | float:
        if name in self.shown:
            return self.shown[name](value)
        if isinstance(value, str | int | float):
            return value
        kind = type(value).__name__
        raise InvalidInput(f"Prompt {self.name!r} was given a {kind} for ${name}; it takes text or a number.")

    def _check(self, names: set[str], verb: str) -> None:
        declared = set(self.variables)
        if names != declared:
            missing, unknown = sorted(declared - names), sorted(names - declared)
            parts = [f"it lacks {', '.join(missing)}"] if missing else []
            parts += [f"it {verb} undeclared {', '.join(unknown)}"] if unknown else []
            known = ", ".join(self.variables) or "none"
            raise InvalidInput(f"Prompt {self.name!r}: {' and '.join(parts)}. Declared variables: {known}.")


@dataclass(frozen=True)
class PromptCall:
    """What a call asks, beside its words: a chat model whose class says `reads_prompts = True` gets it as `prompt`.

    Args:
        name: Of the prompt.
        values: Of its variables, as the method gave them: JSON values.
        complaint: Why the reply before was unusable, where this call asks again.
    """

    name: str
    values: Mapping[str, Any]
    complaint: str = ""


# Square and angle brackets carry every protocol's tags and every chat template's markers. Replacing the characters
# themselves, instead of known tags, leaves nothing that a nested or misspelt tag could be rebuilt from.
_BRACKETS = str.maketrans("[]<>［］＜＞", "()‹›()‹›")
# A protocol's or a chat format's word before a colon would, at the start of a line, be taken for the prompt's own.
_LABEL = re.compile(
    r"\A([\W\d_]*(?:question|context|query|search|answer|analysis|reasoning|thought|action|observation|evidence|claim|fact|"
    r"passage|document|system|user|human|assistant|instructions?|input|output))[\W_]*[:\uff1a\ufe55]",
    re.IGNORECASE,
)
_ELLIPSIS = "…"


def quote(text: str, *, limit: int = 2000) -> str:
    """Makes retrieved text safe to put into a prompt as data: one line, without a live tag, of bounded length.

    Line breaks and control characters become one space; square brackets become round ones, angle brackets become angle
    quotes; a label such as `Question:` at the very start loses its colon, because there it would open a line.

    Args:
        text: The text of a passage, a tool's result, an earlier reply.
        limit: The most characters that come back; a longer text ends in an ellipsis.
    """
    line = " ".join(_visible(text[: limit * 4]).split()).translate(_BRACKETS)
    line = _LABEL.sub(r"\1 -", line)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + _ELLIPSIS


def _visible(text: str) -> str:
    """Without what nobody sees: format characters (soft hyphens, joiners) go, line breaks become spaces."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "" if unicodedata.category(c) == "Cf" else " " for c in text)
