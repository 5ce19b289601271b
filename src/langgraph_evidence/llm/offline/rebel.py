"""REBEL's protocol: a numbered split, yes or no, a tool's number, a tool's input as JSON, an answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.llm.offline.claims import claim_in, verdict
from langgraph_evidence.llm.offline.nested import parts
from langgraph_evidence.llm.offline.questions import entities
from langgraph_evidence.llm.offline.words import stems

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_FACT = re.compile(r"^Q: (.*) A: (.*)$", re.MULTILINE)
_PARAMETER = re.compile(r'"(\w+)": (.*?) \((\w+)(, may be left out)?\)(?=, "|\}$)')
_NUMBERED_PASSAGE = re.compile(r"(?:^|\s)\((\d{1,3})\) ")
_ARITHMETIC = re.compile(r"-?\d[\d.,]*(?:\s*(?:[-+*/^%]|\*\*)\s*-?\(?\d[\d.,]*\)?)+")
# How much of a question the facts must speak of before they answer it.
_COVERED = 0.8


class Fact(NamedTuple):
    """A line of the memory."""

    question: str
    answer: str


@dataclass(frozen=True)
class Turn:
    """What a prompt of this protocol holds.

    Args:
        question: What is asked.
        facts: The memory.
        user: The whole turn.
    """

    question: str
    facts: tuple[Fact, ...]
    user: str


def respond(system: str, user: str, temperature: float, chance: random.Random) -> str | None:  # noqa: ARG001 - a responder's signature; nothing here is left to chance
    """Replies to a prompt of REBEL, or nothing when it is none."""
    for opening, (pattern, reply) in _STEPS.items():
        if system.startswith(opening):
            asked = re.search(pattern, user, re.DOTALL)
            facts = tuple(Fact(*pair) for pair in _FACT.findall(user))
            return reply(Turn(asked[1].strip(), facts, user)) if asked else None
    return None


def _split(turn: Turn) -> str:
    """The inner question first, then the outer one about its answer; a claim is looked up as it stands."""
    found = None if claim_in(turn.question) else parts(turn.question)
    if found is None:
        return "none"
    commas = "Split each subquestion with a comma" in turn.user
    first, second = found
    return f"{first}, {second} (needs 1)" if commas else f"1. {first}\n2. {second} (needs 1)"


def _word(turn: Turn) -> str:
    """The last answer in place of the reference or the pronoun; without one, the question it comes from."""
    origin = re.search(r"The question it comes from: ([^\n]*)", turn.user)
    if not turn.facts:
        return origin[1] if origin else turn.question
    answer = turn.facts[-1].answer
    return re.sub(r"#\d+|\b(?:he|she|it|they|him|her|them)\b", lambda _: answer, turn.question, count=1)


def _recall(turn: Turn) -> str:
    """Whether the facts speak of what the question asks."""
    asked = stems(turn.question)
    held = stems(" ".join(f"{fact.question} {fact.answer}" for fact in turn.facts))
    return "yes" if turn.facts and asked and len(asked & held) >= _COVERED * len(asked) else "no"


def _pick(turn: Turn) -> str:
    """The tool whose description shares most words with the question; else one that searches."""
    tools = re.findall(r"^tool (\d+): (.*)$", turn.user, re.MULTILINE)
    asked = stems(turn.question)
    sums = bool(_ARITHMETIC.search(turn.question))

    def fit(tool: tuple[str, str]) -> float:
        words = stems(tool[1])
        counts = bool(words & stems("calculates arithmetic expression calculator"))
        searches = bool(words & stems("search searches passages"))
        return len(asked & words) * (not counts) + 9 * (sums and counts) + 0.5 * searches

    usable = [tool for tool in tools if tool[0] != "0"]
    return max(usable, key=fit)[0] if usable else "0"


def _input(turn: Turn) -> str:
    """A value for each parameter that is needed: the question, a name in it, a number, an expression."""
    listed = re.findall(r"<PARAMS>(.*?)</PARAMS>", turn.user, re.DOTALL)
    names = [span.text for span in entities(turn.question)]
    numbers = re.findall(r"-?\d+(?:\.\d+)?", turn.question)
    needed = [found for found in _PARAMETER.findall(listed[-1] if listed else "") if not found[3]]
    alone = len([kind for _, _, kind, _ in needed if kind == "string"]) == 1
    values: dict[str, object] = {}
    for name, meaning, kind, _ in needed:
        if kind in {"number", "integer"}:
            number = numbers.pop(0) if numbers else "0"
            values[name] = int(float(number)) if kind == "integer" else float(number)
        elif kind == "string":
            values[name] = _text(turn.question, f"{name} {meaning}", names, alone=alone)
    return json.dumps(values, ensure_ascii=False)


def _text(question: str, meaning: str, names: list[str], *, alone: bool) -> str:
    expression = _ARITHMETIC.search(question)
    if expression and re.search(r"expression|arithmetic|calculat", meaning, re.IGNORECASE):
        return expression[0]
    if alone and re.search(r"query|search|question", meaning, re.IGNORECASE):
        return claim_in(question) or question
    return names.pop(0) if names else question


def _answer(turn: Turn) -> str:
    """From a tool's reply what the reader finds; from facts the last one's answer, which the others led to."""
    returned = re.search(r"An API call about Q returned:\n(.*)\nQ: ", turn.user, re.DOTALL)
    if returned is None:
        return turn.facts[-1].answer if _recall(turn) == "yes" else "unknown"
    passages = _passages(returned[1])
    claim = claim_in(turn.question)
    if claim:
        return verdict(turn.question, claim, passages)
    if len(passages) == 1 and len(passages[0].split()) <= 6:
        return passages[0]
    from langgraph_evidence.models import default_reader

    names = [span.text.lower() for span in entities(turn.question)]
    # A search also brings what merely has words in common; the reader is surer without it.
    named = [passage for passage in passages if any(name in passage.lower() for name in names)]
    reading = default_reader().read(turn.question, named or passages, must_answer=bool(named))
    return reading.text or "unknown"


def _passages(reply: str) -> list[str]:
    """The numbered passages of a search, the ids behind them cut off; any other reply is one passage."""
    found, end, number = [], 0, 1
    for mark in _NUMBERED_PASSAGE.finditer(reply):
        if int(mark[1]) == number:
            found.append(reply[end : mark.start()])
            end, number = mark.end(), number + 1
    found.append(reply[end:])
    texts = [re.sub(r"\s*\([^()\s]*\)$", "", text.strip()) for text in found[1:]] or [reply.strip()]
    return [text for text in texts if text] or [reply]


_STEPS: dict[str, tuple[str, Callable[[Turn], str]]] = {
    "You split questions into subquestions": (r"\nQ=([^\n]*)\n", _split),
    "You word a subquestion": (r"\nSubquestion: ([^\n]*)", _word),
    "You check a memory": (r'\nQ: "([^\n]*)" Is the answer to Q', _recall),
    "You pick a tool": (r"\nQ: ([^\n]*)\nWhich tool", _pick),
    "You write the input of a tool": (r"<Q>([^\n]*)</Q>", _input),
    "You answer a question from": (r"\nQ: ([^\n]*)\n(?:ANSWER Q|Using this)", _answer),
}
"""How each step's system text begins, where its question stands, and what replies."""
