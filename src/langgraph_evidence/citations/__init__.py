"""From an answer and its evidence to citations: which quotes support each sentence, and how far they do.

Citations are computed from the evidence that a run holds, never read from a model's text, so none can be invented.
`Verifier` lets a model read whether the quotes entail the answer; `LexicalVerifier` counts words.
"""

from __future__ import annotations

from langgraph_evidence.citations.checked import AnswerVerifier, Checked, CitedBy, cited_message
from langgraph_evidence.citations.checking import checked_by
from langgraph_evidence.citations.guarded import EntailmentModel, Ranker
from langgraph_evidence.citations.lexical import LexicalVerifier
from langgraph_evidence.citations.statements import Statement, asked_and_told, statements
from langgraph_evidence.citations.trust import Guess, doubt_of, guess_of, unchecked
from langgraph_evidence.citations.verified import Calibration, Verifier
from langgraph_evidence.citations.witness import AnswerReader

__all__ = [
    "AnswerReader", "AnswerVerifier", "Calibration", "Checked", "CitedBy", "EntailmentModel", "Guess",
    "LexicalVerifier", "Ranker", "Statement", "Verifier", "asked_and_told", "checked_by", "cited_message",
    "doubt_of", "guess_of", "statements", "unchecked",
]  # fmt: skip
