"""Runs REBEL on a stored thread, is killed at one moment after another, and each time resumed by another process.

    python rebel_killed.py FOLDER PORT PORT PORT

A moment is that after a tool's request was answered and before the run heard of it; its log is FOLDER/<moment>.log.
"""

from __future__ import annotations

import sqlite3
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from killed import Moment, kill_at_every_moment, write
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from rebel_world import FACTS, ROOT, SPLITS, build, scripted

NAMES = ("books", "people", "weather")
QUESTIONS = dict(zip(FACTS, NAMES, strict=True))


def tool(name: str, port: int, moment: Moment) -> BaseTool:
    def ask(query: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/?q={urllib.parse.quote(query)}", timeout=10) as reply:
            text = str(reply.read().decode())
        moment.passes("sent")
        return text

    return StructuredTool.from_function(ask, name=name, description=f"Knows {name}.", metadata={"idempotent": False})


def graph_of(ports: list[int], moment: Moment) -> Any:
    recalls = {ROOT: "yes", "Where was the author of Emma born?": "yes"}
    picks = {question: str(NAMES.index(name) + 1) for question, name in QUESTIONS.items()}
    tools = [tool(*pair, moment) for pair in zip(NAMES, ports, strict=True)]
    # Quotes by words: this process has no verifier but the trained one, which would only take time here.
    return build(scripted(SPLITS, recalls=recalls, picks=picks), tools, citations="lexical")


def run(folder: Path, name: str, ports: list[int], moment: Moment) -> None:
    """Starts or resumes the thread of a moment and writes the answer down."""
    connection = sqlite3.connect(folder / f"{name}.sqlite", check_same_thread=False)
    saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = graph_of(ports, moment).compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = None if graph.get_state(config).values else {"question": ROOT}
    while given or graph.get_state(config).next:
        graph.invoke(given, config, durability="sync")
        given = None
        for paused in graph.get_state(config).interrupts:
            query = paused.value["arguments"]["query"]
            write(folder / f"{name}.log", f"asked {query}")
            given = Command(resume={"reply": FACTS[query]})
    write(folder / f"{name}.log", f"answer {graph.get_state(config).values['answer']}")


def main() -> None:
    folder, ports = Path(sys.argv[1]), [int(port) for port in sys.argv[2:]]
    kill_at_every_moment("sent", folder, lambda name, moment: run(folder, name, ports, moment))


if __name__ == "__main__":
    main()
