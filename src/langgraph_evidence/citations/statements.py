"""From an answer to the statements that have to be true for it to be right."""

from __future__ import annotations

from typing import NamedTuple

from langgraph_evidence.text import Sentence, split_sentences, tokens

# A longer sentence states what it means by itself; beside others, only the shortest ("Yes.") leans on the question.
_LEANS_ALONE, _LEANS_AMONG_OTHERS = 12, 4
_MOST = 100


class Statement(NamedTuple):
    """What one sentence of an answer states.

    Attributes:
        start: Where the sentence starts in the answer.
        end: Where it ends.
        said: The sentence as it stands in the answer.
        text: What has to be true: the sentence, or the question with it where it says nothing alone.
    """

    start: int
    end: int
    said: str
    text: str


def statements(question: str, answer: str) -> list[Statement]:
    """The statements of an answer, one a sentence; a short one is read together with the question.

    Args:
        question: The question, or a claim's own words; may be empty, and then nothing is read together with it.
        answer: The answer as it is given.

    Returns:
        The statements in the answer's order, all that follows the 99th sentence as one; none for an answer without
        words.
    """
    found = [sentence for sentence in split_sentences(answer) if any(map(str.isalnum, sentence.text))]
    if len(found) > _MOST:
        start = found[_MOST - 1].start
        found = [*found[: _MOST - 1], Sentence(answer[start : found[-1].end], start, found[-1].end)]
    longest = _LEANS_ALONE if len(found) == 1 else _LEANS_AMONG_OTHERS
    return [
        Statement(
            sentence.start,
            sentence.end,
            sentence.text,
            asked_and_told(question, sentence.text) if len(tokens(sentence.text)) <= longest else sentence.text,
        )
        for sentence in found
    ]


def asked_and_told(question: str, answer: str) -> str:
    """A question with its short answer as one statement: the form in which the entailment model was taught it."""
    return f"{question.strip()} {answer.strip()}".strip()
