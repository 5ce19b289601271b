"""How the offline model replies to each prompt, from its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.answers import find_answer
from toy import prompts

if TYPE_CHECKING:
    from langgraph_evidence.llm.offline import Responder

RESPONDERS: dict[str, Responder] = {
    prompts.ASK.name: lambda values, _temperature, _chance: str(values["question"]),
    prompts.ANSWER.name: lambda values, _temperature, _chance: (
        find_answer(values["question"], tuple(values["evidence"])).text
    ),
}
