"""Runs REBEL on a stored thread, is killed at one moment after another, and each time resumed by another process.

    python rebel_killed.py FOLDER calls|steps|sent PORT PORT PORT

Everything is imported once; a moment costs two forks. What the model was asked is logged in FOLDER/<moment>.log.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from rebel_world import ANY, FACTS, ROOT, SPLITS, build, scripted

from langgraph_evidence.llm.prompt import PromptCall

NAMES = ("books", "people", "weather")
QUESTIONS = dict(zip(FACTS, NAMES, strict=True))


class Moment:
    """Counts calls or steps, and ends the process at the chosen one."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.left = kind, number

    def passes(self, kind: str) -> None:
        if kind == self.kind:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def tool(name: str, port: int, moment: Moment) -> BaseTool:
    def ask(query: str) -> str:
        moment.passes("calls")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/?q={urllib.parse.quote(query)}", timeout=10) as reply:
            text = str(reply.read().decode())
        moment.passes("sent")
        return text

    metadata = {"idempotent": "sent" not in sys.argv}
    return StructuredTool.from_function(ask, name=name, description=f"Knows {name}.", metadata=metadata)


def graph_of(log: Path, ports: list[int], moment: Moment) -> Any:
    recalls = {ROOT: "yes", "Where was the author of Emma born?": "yes"}
    picks = {question: str(NAMES.index(name) + 1) for question, name in QUESTIONS.items()}
    model = scripted(SPLITS, recalls=recalls, picks=picks)
    usual = model.rules[0][1]

    def reply(call: PromptCall, seed: int) -> str:
        key = hashlib.sha256(repr(call).encode()).hexdigest()
        write(log, f"start {key}")
        moment.passes("calls")
        answer = usual(call, seed)
        write(log, f"end {key}")
        return str(answer)

    model.rules[0] = (ANY, reply)
    return build(model, [tool(*pair, moment) for pair in zip(NAMES, ports, strict=True)])


def write(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(line + "\n")


def run(folder: Path, name: str, ports: list[int], moment: Moment) -> None:
    """Starts or resumes the thread of a moment and writes the answer down."""
    connection = sqlite3.connect(folder / f"{name}.sqlite", check_same_thread=False)
    saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = graph_of(folder / f"{name}.log", ports, moment).compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = None if graph.get_state(config).values else {"question": ROOT}
    while given or graph.get_state(config).next:
        for _ in graph.stream(given, config, stream_mode="updates", durability="sync"):
            moment.passes("steps")
        given = None
        for paused in graph.get_state(config).interrupts:
            query = paused.value["arguments"]["query"]
            write(folder / f"{name}.log", f"asked {query}")
            given = Command(resume={"reply": FACTS[query]})
    write(folder / f"{name}.log", f"answer {graph.get_state(config).values['answer']}")


def in_child(*arguments: Any) -> int:
    child = os.fork()
    if child == 0:
        run(*arguments)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main() -> None:
    folder, kind, ports = Path(sys.argv[1]), sys.argv[2], [int(port) for port in sys.argv[3:]]
    for number in range(1, 200):
        name = f"{kind}{number:03}"
        write(folder / f"{name}.log", f"moment {number}")
        status = in_child(folder, name, ports, Moment(kind, number))
        if status == 0:
            return
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        write(folder / f"{name}.log", "killed")
        status = in_child(folder, name, ports, Moment("never", 0))
        assert status == 0, status


if __name__ == "__main__":
    main()
