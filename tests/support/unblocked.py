"""Awaits a case in a fresh process with its default local models, where whatever blocks the event loop is an error.

python unblocked.py CASE
"""

from __future__ import annotations

import asyncio
import dataclasses
import sys

from blockbuster import blockbuster_ctx
from cases import CASES

import langgraph_evidence


def main() -> None:
    case = dataclasses.replace(CASES[sys.argv[1]](), local={})
    graph = case.graph(min_support=0.0)  # the trained models check the answer, and a scripted one is no proof of theirs
    with blockbuster_ctx(langgraph_evidence):
        output = asyncio.run(graph.ainvoke(case.given()))
    assert (output["answer"], output["stopped"]) == (case.answer, "answered"), output


if __name__ == "__main__":
    main()
