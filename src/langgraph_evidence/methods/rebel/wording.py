"""How a sub-question that leans on others is worded so that it stands alone: `#1` stands for the first one's answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCE = re.compile(r"#(\d{1,3})\b")
# A pronoun leans on what was asked before, unless a name stands before it in its own question.
_PRONOUN = re.compile(
    r"\b(he|she|it|they|him|her|them|his|hers|its|their|theirs|the former|the latter)\b", re.IGNORECASE
)
_NAME = re.compile(r"\s[\"“'(]?[A-Z]")
# A longer answer makes no name to put into a question; the model words that one.
_LONGEST_NAME = 80


def references(question: str) -> list[int]:
    """The numbers of the sub-questions whose answers a question names."""
    return sorted({int(number) for number in _REFERENCE.findall(question)})


def leans(question: str) -> bool:
    """Whether a question cannot be understood by itself: it names another's answer, or says `it`."""
    pronoun = _PRONOUN.search(question)
    return bool(_REFERENCE.search(question) or (pronoun and not _NAME.search(question, 0, pronoun.start())))


def fill(question: str, answers: Mapping[int, str]) -> str:
    """Puts short answers where `#n` stands for them; the others stay."""
    names = {number: " ".join(answer.split()) for number, answer in answers.items()}

    def answer(match: re.Match[str]) -> str:
        text = names.get(int(match[1]), "")
        return text.rstrip(".") if text and len(text) <= _LONGEST_NAME else match[0]

    return _REFERENCE.sub(answer, question)


def spell_out(question: str, questions: Mapping[int, str]) -> str:
    """Puts the question itself where `#n` still stands for its answer, which nobody has."""

    def asked(match: re.Match[str]) -> str:
        text = questions.get(int(match[1]))
        return f'the answer to "{text}"' if text else match[0]

    return _REFERENCE.sub(asked, question)
