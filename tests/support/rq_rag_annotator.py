"""Rows and a scripted annotator for RQ-RAG's data pipeline; run as a program, it annotates slowly until it is killed.

python rq_rag_annotator.py FOLDER LOG
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.training.rq_rag import MakeOptions
from langgraph_evidence.training.rq_rag.annotate import AnnotateOptions, annotate
from langgraph_evidence.training.rq_rag.drafts import Draft
from langgraph_evidence.types import Passage


def draft(number: int) -> Draft:
    passages = [
        Passage(id="0", title=f"River {number}", text=f"River {number} is in the country Land {number}."),
        Passage(id="1", title=f"Land {number}", text=f"The capital of Land {number} is Town {number}."),
        Passage(id="2", title="Other", text="A text about nothing."),
    ]
    return Draft(
        dataset="MuSiQue",
        file="f",
        row=str(number),
        fold=number % 8,
        question=f"What is the capital of the country of {number} the river?",
        answers=(f"Town {number}",),
        passages=passages,
        gold=frozenset({0, 1}),
        hops=(),
    )


DRAFTS = [draft(number) for number in range(1, 9)]


def scripted(*, latency: float = 0.0, log: Path | None = None) -> ScriptedChat:
    def number(call: Any) -> str:
        return str(re.findall(r"of (\d) ", call.values["question"])[0])

    def note(call: Any) -> None:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{call.name} {number(call)}\n")

    def decompose(call: Any, _seed: int) -> str:
        note(call)
        return f"1. River {number(call)} country\n2. Land {number(call)} capital"

    def answer(call: Any, _seed: int) -> str:
        note(call)
        return "a new answer"

    rules = [(Asks("rq_rag.decompose"), decompose), (Asks("rq_rag.answer"), answer)]
    return ScriptedChat(rules=rules, latency=latency)


if __name__ == "__main__":
    folder, told = map(Path, sys.argv[1:])
    slow = AnnotateOptions(concurrency=2, make=MakeOptions(passages=1))
    annotate(DRAFTS, scripted(latency=0.1, log=told), folder, slow)
