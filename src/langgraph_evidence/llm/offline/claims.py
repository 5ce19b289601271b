"""A question that asks whether a claim is true: the claim in it, and the shared entailment head's verdict on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.llm.offline.evidence import bare, title_of
from langgraph_evidence.llm.offline.questions import LONGEST
from langgraph_evidence.llm.offline.words import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.models.entailment import Entailment

_CLAIM = re.compile(r"\b(?:claim|statement)\b[^\"\u201c]*[\"\u201c](.+)[\"\u201d]")


def claim_in(question: str) -> str | None:
    """The claim that a question quotes, as in `Is this claim true: "..."`."""
    found = _CLAIM.search(question[:LONGEST])
    return found[1].strip() if found else None


def verdict(question: str, claim: str, passages: Sequence[str]) -> str:
    """SUPPORTS or REFUTES where the question asks for these words, else yes or no; `unknown` where no passage decides.

    A passage is judged by itself and counts by the share of the claim's words that it holds; those whose title stands
    in the claim go before others, since what a search brings beside them seldom speaks of it.

    Raises:
        ResourceError: The entailment head's weights are missing or altered.
        MissingExtra: The local models are not installed.
    """
    near = [passage for passage in passages if stems(passage) & stems(claim)]
    read = [passage for passage in near if _about(passage, claim)] or near
    if not read:
        return "unknown"
    entailed, neutral, contradicted = _entailment().labels3([(passage, claim) for passage in read]).T
    if not (np.maximum(entailed, contradicted) > neutral).any():
        return "unknown"
    shares = np.array([len(stems(passage) & stems(claim)) for passage in read]) / len(stems(claim))
    words = ("SUPPORTS", "REFUTES") if "REFUTES" in question else ("yes", "no")
    return words[int((contradicted * shares).max() > (entailed * shares).max())]


def _about(passage: str, claim: str) -> bool:
    own = stems(bare(title_of(passage)))
    return bool(own) and own <= stems(claim)


def _entailment() -> Entailment:
    from langgraph_evidence.models import default_entailment

    return default_entailment()
