"""Reads each step's reply: sub-questions, yes or no, a tool's number, a tool's input, an answer."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.parse import clean

if TYPE_CHECKING:
    from langgraph_evidence.methods.rebel.settings import SplitFormat


class SubQuestion(NamedTuple):
    """A sub-question as the model wrote it, and the numbers of those it says it needs."""

    text: str
    needs: tuple[int, ...]


# A reply of any length is read in linear time: a run that could end in two ways is possessive (`*+`), and spaces are
# folded before an expression that has them at both ends.
_NUMBERED = re.compile(r"^\s*+(?:[-*•]\s++)?(?:Q?\(?\d{1,3}\s*+[.):](?!\d)|[-*•])\s*+(.*)$", re.IGNORECASE)
_NEEDS = re.compile(r"\(? ?\bneeds?\b(?: answers?)?:? #?(\d[\d ,#]*+(?:and #?\d++)?) ?\)?\.?$", re.IGNORECASE)
_NONE = re.compile(r"^\W*+(?:none|no (?:split|sub-?questions?)(?: (?:is |are )?needed)?|n/?a)\W*+$", re.IGNORECASE)
_AFTER_QUESTION = re.compile(r"(?<=\?)(?:\s*+,|[^\S\n]*+\n)\s*+")
_ANSWER_LABEL = re.compile(r"^\W*+(?:the )?(?:final )?answer(?: to q)? ?(?::|is:) ?", re.IGNORECASE)
_YES_NO = re.compile(r"^\W*+(?:(?:the\s++)?answer\s*+(?:is|:)\W*+)?(yes|no)\b(?!\s*+/|\s++or\b)", re.IGNORECASE)
_QUESTION_LABEL = re.compile(r"^\W*+(?:sub-?)?question\s*+:\s*+", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"^(?:(?:it|this|that|the answer|q)\s+(?:is|was)\s+)?(?:unknown|none|n/?a|no answer\b.*|nothing(?: was)? found"
    r"|not (?:known|found|provided|mentioned|specified|available|stated)"
    r"|(?:i|we) (?:do not|don.t|cannot|can.t) (?:know|tell|answer|find|determine)\b.*"
    r"|cannot be (?:determined|answered)\b.*|(?:there is )?not enough information\b.*|insufficient information\b.*)$",
    re.IGNORECASE,
)
_LONGEST_INPUT = 20_000
# No question is longer; one that were would be put into every prompt below it, and once for each `#1` of another.
_LONGEST_QUESTION = 2_000
# A runaway list is no split; what a tree can hold is decided elsewhere. A brace opens no object so often either.
_MOST = 50


def parse_split(reply: str, *, form: SplitFormat) -> list[SubQuestion]:
    """Reads the sub-questions of a split; an explicit `none` or an empty list is none of them.

    Args:
        reply: The model's text.
        form: A numbered list (a JSON list of strings is read as well), or commas after question marks.

    Raises:
        UnusableReply: Neither.
    """
    text = clean(reply)
    if _NONE.match(text):
        return []
    texts = _between_commas(text) if form == "commas" else _listed(text)
    if texts is None:
        wanted = "a numbered list" if form == "numbered" else "sub-questions with a comma after each"
        raise UnusableReply(f"Give {wanted}, nothing else, or the one word: none.", reply=reply)
    found = [_subquestion(item) for item in texts[:_MOST]]
    if any(len(question.text) > _LONGEST_QUESTION for question in found):
        raise UnusableReply(f"A sub-question has at most {_LONGEST_QUESTION} characters.", reply=reply)
    return [question for question in found if re.search(r"\w", question.text)]


def _listed(text: str) -> list[str] | None:
    if text.startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return items if isinstance(items, list) and all(isinstance(item, str) for item in items) else None
    found = [match[1] for line in text.splitlines() if (match := _NUMBERED.match(line))]
    return found or None


def _between_commas(text: str) -> list[str] | None:
    """A comma ends a sub-question only after its question mark, so that one inside it does not."""
    parts = [part.strip() for part in _AFTER_QUESTION.split(text)]
    parts = [part for part in parts if part]
    return parts if parts and all("?" in part for part in parts) else None


def _subquestion(text: str) -> SubQuestion:
    text = " ".join(text.split())
    mark = _NEEDS.search(text)
    needs = tuple(int(number) for number in re.findall(r"\d{1,3}", mark[1])) if mark else ()
    return SubQuestion((text[: mark.start()] if mark else text).strip("*_` "), needs)


def parse_yes_no(reply: str) -> bool:
    """Reads the memory check: the word that the reply opens with, so that `No, that was yesterday` is no.

    Raises:
        UnusableReply: It opens with neither yes nor no.
    """
    found = _YES_NO.match(clean(reply))
    if not found:
        raise UnusableReply("Answer with one word: yes or no.", reply=reply)
    return found[1].lower() == "yes"


def parse_tool_number(reply: str, *, count: int) -> int:
    """Reads the one number of a tool, 1 to `count`; 0 is none of them.

    Raises:
        UnusableReply: No number, several different ones, or one that no tool has.
    """
    numbers = {int(number) for number in re.findall(r"(?<![\w.,-])\d{1,4}(?![\w]|[.,]\d)", clean(reply), re.ASCII)}
    if len(numbers) != 1:
        raise UnusableReply(f"Give one number alone, from 0 to {count}.", reply=reply)
    (number,) = numbers
    if number > count:
        raise UnusableReply(f"There is no tool {number}; give one number from 0 to {count}.", reply=reply)
    return number


def parse_input(reply: str) -> dict[str, Any]:
    """Reads the first JSON object of a reply, however deep its values.

    Raises:
        UnusableReply: There is none.
    """
    text = clean(reply)[:_LONGEST_INPUT]
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for start in (match.start() for match in islice(re.finditer(r"\{", text), _MOST)):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _storable(value):
            return value
    raise UnusableReply("Give the input as one JSON object, nothing else.", reply=reply)


def _refuse(name: str) -> None:
    raise ValueError(name)


def _storable(value: Any) -> bool:
    """Whether a checkpoint can hold it: whole numbers of 64 bits, text without half a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return all(-(2**63) <= int(number) < 2**63 for number in re.findall(r"-?\d{19,}", json.dumps(value)))


def parse_answer(reply: str) -> str:
    """Reads an answer; a reply that says it has none is empty.

    Raises:
        UnusableReply: The reply holds no word at all.
    """
    text = _ANSWER_LABEL.sub("", " ".join(clean(reply).split())).strip("*_` ")
    if not text:
        raise UnusableReply("The reply is empty; give the answer, or the one word: unknown.", reply=reply)
    return "" if _UNKNOWN.match(text.rstrip(".!")) else text


def parse_wording(reply: str) -> str:
    """Reads a question worded anew.

    Raises:
        UnusableReply: The reply is empty or no question by its length, or still leans on another answer by its number.
    """
    line = next((line.strip() for line in clean(reply).splitlines() if re.search(r"\w", line)), "")
    line = _QUESTION_LABEL.sub("", line).strip('*_`" ')
    if not line or len(line) > _LONGEST_QUESTION or re.search(r"#\d", line):
        raise UnusableReply("Give one question that stands alone, without numbers of others.", reply=reply)
    return line
