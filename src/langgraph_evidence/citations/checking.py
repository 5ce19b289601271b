"""A check of an answer by any verifier: what it finds, or that the answer could not be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.citations.checked import Checked
from langgraph_evidence.citations.trust import unchecked
from langgraph_evidence.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langgraph_evidence.citations.checked import AnswerVerifier
    from langgraph_evidence.types import Citation, Conflict, Passage, SentenceSupport


def checked_by(load: Callable[[], AnswerVerifier], question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
    """What a verifier finds of an answer; where it fails, or gives what cannot be, that it could not be checked.

    Args:
        load: Gives the verifier, of this package or a host's own.
        question: What was asked.
        answer: The answer as it is given.
        evidence: The passages that the run holds.
    """
    try:
        found = load().check(question, answer, evidence)
    except EvidenceError as error:
        return unchecked(str(error))
    except Exception as error:  # noqa: BLE001 - whatever a host's verifier raises, what the run has paid for is kept
        return unchecked(f"the verifier raised {type(error).__name__}: {error}")
    wrong = _flaw(found, answer, evidence)
    return unchecked(f"the verifier gave {wrong}") if wrong else found


def _flaw(found: object, answer: str, evidence: Sequence[Passage]) -> str:
    """What is wrong with a check, or nothing."""
    if not isinstance(found, Checked):
        return f"{type(found).__name__}; a Checked is due."
    if found.failed:
        return f"a failure with a support of {found.support}: {found.failed}" if found.support else ""
    if not all(map(_is_share, _shares(found))):
        return "a support that is no number from 0 to 1."
    if not all(0 <= start < end <= len(answer) for start, end in _spans(found)):
        return "a span outside the answer."
    if not _stand([*found.citations, *found.conflicts], evidence):
        return "a quote that does not stand at its place in its passage."
    return "support without a quote." if found.support and not found.citations else ""


def _shares(found: Checked) -> list[object]:
    parts: list[Citation | SentenceSupport] = [*found.citations, *found.sentences]
    return [found.support, *(part["support"] for part in parts), *(part["contradiction"] for part in found.conflicts)]


def _spans(found: Checked) -> list[tuple[int, int]]:
    parts: list[Citation | SentenceSupport | Conflict] = [*found.citations, *found.sentences, *found.conflicts]
    return [(part["start"], part["end"]) for part in parts]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _stand(quoted: Sequence[Citation | Conflict], evidence: Sequence[Passage]) -> bool:
    """Whether every quote stands letter for letter in a passage of its id."""
    texts: dict[str, list[str]] = {}
    for passage in evidence:
        texts.setdefault(passage["id"], []).append(passage["text"])
    return all(any(_quotes(part, text) for text in texts.get(part["passage_id"], [])) for part in quoted)


def _quotes(part: Citation | Conflict, text: str) -> bool:
    return text[part["quote_start"] : part["quote_end"]] == part["quote"]
