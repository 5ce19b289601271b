"""The verifiers that are measured, by name, each with the support from which it counts an answer as supported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.citations import LexicalVerifier, Verifier
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models import default_encoder, default_sentence_ranker, default_verifier
from langgraph_evidence.settings import Settings

if TYPE_CHECKING:
    from langgraph_evidence.citations import AnswerVerifier


@dataclass(frozen=True)
class Measured:
    """A verifier under its name.

    Args:
        name: What it is printed as.
        verifier: What checks answers.
        least: The support from which an answer is supported.
    """

    name: str
    verifier: AnswerVerifier
    least: float


def open_verifier(name: str, *, entailment: str | None = None, least: float | None = None) -> Measured:
    """The verifier of that name.

    Args:
        name: `verified` or `lexical`.
        entailment: Any source of `Entailment.load` in the place of the shipped head.
        least: The support that counts; without it the `min_support` of a run.

    Raises:
        InvalidInput: There is none of that name.
        ResourceError: Its weights are missing or altered.
    """
    edge = Settings().min_support if least is None else least
    if name == "lexical":
        return Measured(name, LexicalVerifier(), edge)
    if name != "verified":
        raise InvalidInput(f"There is no verifier {name!r}; there are verified and lexical.")
    if entailment is None:
        return Measured(name, default_verifier(), edge)
    from langgraph_evidence.models.entailment import Entailment

    model = Entailment.load(entailment, encoder=default_encoder())
    return Measured(f"{name} by {entailment}", Verifier(model, default_sentence_ranker()), edge)
