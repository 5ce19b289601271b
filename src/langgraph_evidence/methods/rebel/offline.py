"""REBEL's prompts as the offline model replies to them: extraction and small rules in the paper's protocol."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from langgraph_evidence.llm.offline.claims import claim_in, verdict
from langgraph_evidence.llm.offline.nested import parts
from langgraph_evidence.llm.offline.questions import entities
from langgraph_evidence.llm.offline.words import stems
from langgraph_evidence.methods.rebel import prompts

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from langgraph_evidence.llm.offline import Responder

    Values = Mapping[str, Any]

# As a search numbers its passages.
_NUMBERED_PASSAGE = re.compile(r"(?:^|\s)\((\d{1,3})\) ")
_ARITHMETIC = re.compile(r"-?\d[\d.,]*(?:\s*(?:[-+*/^%]|\*\*)\s*-?\(?\d[\d.,]*\)?)+")
# How much of a question the facts must speak of before they answer it.
_COVERED = 0.8


def _split(values: Values) -> str:
    """The inner question first, then the outer one about its answer; a claim is looked up as it stands."""
    first, second = _nested(values["question"])
    return f"1. {first}\n2. {second} (needs 1)" if first else "none"


def _split_commas(values: Values) -> str:
    first, second = _nested(values["question"])
    return f"{first}, {second} (needs 1)" if first else "none"


def _nested(question: str) -> tuple[str, str]:
    return (None if claim_in(question) else parts(question)) or ("", "")


def _word(values: Values) -> str:
    """The last answer in place of the reference or the pronoun; without one, the question it comes from."""
    if not values["memory"]:
        return str(values["origin"])
    answer = values["memory"][-1]["answer"]
    pattern = r"#\d+|\b(?:he|she|it|they|him|her|them)\b"
    return re.sub(pattern, lambda _: str(answer), values["question"], count=1)


def _recall(values: Values) -> str:
    """Whether the facts speak of what the question asks."""
    asked = stems(values["question"])
    held = stems(" ".join(f"{fact['question']} {fact['answer']}" for fact in values["memory"]))
    return "yes" if values["memory"] and asked and len(asked & held) >= _COVERED * len(asked) else "no"


def _pick(values: Values) -> str:
    """The tool whose description shares most words with the question; else one that searches."""
    asked = stems(values["question"])
    sums = bool(_ARITHMETIC.search(values["question"]))

    def fit(tool: tuple[int, str]) -> float:
        words = stems(tool[1])
        counts = bool(words & stems("calculates arithmetic expression calculator"))
        searches = bool(words & stems("search searches passages"))
        return len(asked & words) * (not counts) + 9 * (sums and counts) + 0.5 * searches

    return str(max(enumerate(values["tools"], start=1), key=fit, default=(0, ""))[0])


def _input(values: Values) -> str:
    """A value for each parameter that is needed: the question, a name in it, a number, an expression."""
    question = values["question"]
    names = [span.text for span in entities(question)]
    numbers = re.findall(r"-?\d+(?:\.\d+)?", question)
    needed = [parameter for parameter in values["parameters"] if parameter["required"]]
    alone = len([parameter for parameter in needed if parameter["type"] == "string"]) == 1
    given: dict[str, object] = {}
    for parameter in needed:
        name, kind = parameter["name"], parameter["type"]
        if kind in {"number", "integer"}:
            number = numbers.pop(0) if numbers else "0"
            given[name] = int(float(number)) if kind == "integer" else float(number)
        elif kind == "string":
            given[name] = _text(question, f"{name} {parameter['meaning']}", names, alone=alone)
    return json.dumps(given, ensure_ascii=False)


def _text(question: str, meaning: str, names: list[str], *, alone: bool) -> str:
    expression = _ARITHMETIC.search(question)
    if expression and re.search(r"expression|arithmetic|calculat", meaning, re.IGNORECASE):
        return expression[0]
    if alone and re.search(r"query|search|question", meaning, re.IGNORECASE):
        return claim_in(question) or question
    return names.pop(0) if names else question


def _answer(values: Values) -> str:
    """The last fact's answer, which the others led to."""
    return str(values["memory"][-1]["answer"]) if _recall(values) == "yes" else "unknown"


def _answer_reply(values: Values) -> str:
    """What the reader finds in a tool's reply."""
    question, passages = values["question"], _passages(values["reply"])
    claim = claim_in(question)
    if claim:
        return verdict(question, claim, passages)
    if len(passages) == 1 and len(passages[0].split()) <= 6:
        return passages[0]
    from langgraph_evidence.models import default_reader

    names = [span.text.lower() for span in entities(question)]
    # A search also brings what merely has words in common; the reader is surer without it.
    named = [passage for passage in passages if any(name in passage.lower() for name in names)]
    reading = default_reader().read(question, named or passages, must_answer=bool(named))
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


def _certain(reply: Callable[[Values], str]) -> Responder:
    """A responder that leaves nothing to chance."""

    def respond(values: Values, _temperature: float, _chance: random.Random) -> str:
        return reply(values)

    return respond


RESPONDERS: dict[str, Responder] = {
    prompts.SPLIT.name: _certain(_split),
    prompts.SPLIT_COMMAS.name: _certain(_split_commas),
    prompts.WORD.name: _certain(_word),
    prompts.RECALL.name: _certain(_recall),
    prompts.RECALL_FACTS.name: _certain(_recall),
    prompts.PICK_TOOL.name: _certain(_pick),
    prompts.TOOL_INPUT.name: _certain(_input),
    prompts.ANSWER.name: _certain(_answer),
    prompts.ANSWER_FACTS.name: _certain(_answer),
    prompts.ANSWER_REPLY.name: _certain(_answer_reply),
}
"""One entry a prompt."""
