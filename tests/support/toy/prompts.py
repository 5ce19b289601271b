"""The prompts, each known by its name and its values."""

from __future__ import annotations

from langgraph_evidence.llm.prompt import Prompt

ASK = Prompt("toy.ask", (("human", "Write one search query.\nQuestion: $question"),), ("question",))
ANSWER = Prompt(
    "toy.answer",
    (("human", "$evidence\nAnswer in a few words from the text above.\nQuestion: $question"),),
    ("evidence", "question"),
    shown={"evidence": "\n".join},
)
