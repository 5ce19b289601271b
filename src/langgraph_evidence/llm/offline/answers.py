"""The answer that the evidence gives, by the shared reader."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from langgraph_evidence.llm.offline.evidence import sentences, title_of
from langgraph_evidence.llm.offline.words import stems


@dataclass(frozen=True)
class QuotedAnswer:
    """An answer and the sentence it was read from."""

    text: str
    quote: str


@lru_cache(maxsize=1024)
def find_answer(question: str, evidence: tuple[str, ...]) -> QuotedAnswer:
    """Reads the best answer, however unsure; where nothing can be read, the title of the last passage.

    Raises:
        ResourceError: The reader's weights are missing or altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models import default_reader

    if not evidence or not question.strip():
        return QuotedAnswer(title_of(evidence[-1]) if evidence else "", "")
    reading = default_reader().read(question, list(evidence), must_answer=True)
    if reading.kind == "span" and reading.text.strip():
        line = evidence[reading.passage]
        held = [sentence for sentence in sentences(line) if reading.text in sentence]
        return QuotedAnswer(" ".join(reading.text.split()), held[0] if held else line)
    text = reading.text if reading.kind in {"yes", "no"} else title_of(evidence[-1])
    asked = stems(question)
    return QuotedAnswer(
        text, max((s for line in evidence for s in sentences(line)), key=lambda s: len(stems(s) & asked))
    )
