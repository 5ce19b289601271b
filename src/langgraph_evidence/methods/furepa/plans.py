"""From a reply to a plan (eq. 2), and from a run's memory to the words of a prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.parse import Section, clean, tagged_lines
from langgraph_evidence.llm.prompt import quote
from langgraph_evidence.methods.furepa.state import Plan, Step
from langgraph_evidence.text import normalise_answer
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.methods.furepa.settings import Mask
    from langgraph_evidence.types import Passage

_TAGS = _ANALYSIS, _SEARCH, _ANSWER = "[Analysis]", "[Search]", "[Answer]"
# A longer one is no query, and words are counted, clustered and searched for.
_LONGEST_QUERY = 2000
_INLINE = re.compile(r"(\[(?:search|answer)\])", re.IGNORECASE)

# "Do not answer with uncertainty" (appendix A.2): a model that cannot answer must search, so these are no answers.
_REFUSALS = frozenset(
    {"unknown", "not known", "none", "not provided", "not mentioned", "not specified", "not enough information"}
    | {"insufficient information", "cannot be determined", "cannot be answered", "i do not know", "i dont know"}
)

_SHOWN_REASONING: frozenset[Mask] = frozenset({"none", "queries", "none_from_scratch", "none_mask_at_answer"})
_SHOWN_QUERIES: frozenset[Mask] = frozenset({"none", "reasoning", "none_from_scratch", "none_mask_at_answer"})


def parse_plan(reply: str, *, may_answer: bool) -> tuple[Literal["search", "answer"], str, str]:
    """Reads a reply as a plan: its kind, its chain of thought, and its query or answer.

    The first `[Search]` or `[Answer]` line is the plan; what a model imagines after it is not read.

    Args:
        reply: The model's text.
        may_answer: Whether an answer is allowed here; the first iteration only searches.

    Raises:
        UnusableReply: No such line, an empty one, an answer where none is allowed, or an answer that says it has none.
    """
    analysis: list[str] = []
    for tag, text in _sections(clean(reply)):
        if tag == _ANALYSIS:
            analysis.append(text)
            continue
        line = text.strip().split("\n", 1)[0].strip()
        if tag == _SEARCH and len(line) > _LONGEST_QUERY:
            raise UnusableReply(f"The [Search] line is over {_LONGEST_QUERY} characters long.", reply=reply)
        if tag == _SEARCH and line:
            return "search", " ".join(" ".join(analysis).split()), line
        if tag == _ANSWER and not may_answer:
            raise UnusableReply("Only a [Search] line can be used in the first step.", reply=reply)
        if tag == _ANSWER and line and normalise_answer(line) not in _REFUSALS:
            return "answer", " ".join(" ".join(analysis).split()), line
        raise UnusableReply(f"The {tag} line holds no {'query' if tag == _SEARCH else 'answer'}.", reply=reply)
    allowed = "[Search] or [Answer]" if may_answer else "[Search]"
    raise UnusableReply(f"A line that starts with {allowed} is needed.", reply=reply)


def _sections(text: str) -> list[Section]:
    """The tagged sections; `[Analysis] r [Search] q` on one line, the paper's form, where no line begins a plan."""
    sections = tagged_lines(text, _TAGS)
    if any(section.tag != _ANALYSIS for section in sections):
        return sections
    return tagged_lines(_INLINE.sub(r"\n\1", text), _TAGS)


def parse_forced(reply: str) -> tuple[str, str]:
    """Reads the forced answer: its chain of thought and the answer.

    Raises:
        UnusableReply: The reply has no usable `[Answer]` line.
    """
    kind, analysis, text = parse_plan(reply, may_answer=True)
    if kind != "answer":
        raise UnusableReply("Nothing more can be searched for; give a line that starts with [Answer].", reply=reply)
    return analysis, text


def read_plan(plan_id: str, iteration: int, reply: str, *, may_answer: bool) -> Plan:
    """The plan in a sampled reply; a reply of no format is kept as unusable, with the reason."""
    try:
        kind, analysis, text = parse_plan(reply, may_answer=may_answer)
    except UnusableReply as unusable:
        return Plan(id=plan_id, iteration=iteration, kind="unusable", analysis="", text=unusable.reason)
    return Plan(id=plan_id, iteration=iteration, kind=kind, analysis=analysis, text=text)


def context_of(evidence: Sequence[Passage], *, words: int) -> list[str]:
    """The evidence E_t as the prompt shows it: a passage a line, in the order it was found, quoted as data."""
    return [quote(" ".join(passage_line(passage).split()[:words])) for passage in evidence]


def history_of(steps: Sequence[Step], mask: Mask) -> str:
    """The earlier steps that a mask leaves to be seen (section 4.3); nothing under the double mask."""
    lines: list[str] = []
    for step in steps:
        if mask in _SHOWN_REASONING and step["analysis"]:
            lines.append(f"[Analysis] {step['analysis']}")
        if mask in _SHOWN_QUERIES:
            lines.append(f"[Search] {step['query']}")
    return "\n".join(lines)
