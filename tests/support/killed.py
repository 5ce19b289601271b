"""Runs a case on a stored thread, is killed at one moment after another, and each time resumed by another process.

    python killed.py CASE FOLDER calls|steps

Everything is imported once; a moment costs two forks. What the model was asked is logged in FOLDER/<moment>.log.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cases import CASES, Case
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_evidence.llm.scripts import pick
from langgraph_evidence.llm.testing import ScriptedChat

# A reply that was sent is finished once it is written down, which takes a moment.
GRACE = 0.03


class Moment:
    """Counts calls or steps, and ends the process at the chosen one."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.left = kind, number

    def passes(self, kind: str) -> None:
        if kind == self.kind:
            self.left -= 1
            if self.left == 0:
                time.sleep(GRACE)
                os.kill(os.getpid(), signal.SIGKILL)


def write(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(line + "\n")


def logged(model: ScriptedChat, log: Path, moment: Moment) -> ScriptedChat:
    """The model with every call written down as it starts and ends."""

    def watch(reply: Any) -> Any:
        def run(asked: Any, seed: int) -> Any:
            key = hashlib.sha256(repr((asked, seed)).encode()).hexdigest()
            write(log, f"start {key}")
            moment.passes("calls")
            answer = pick(reply, asked, seed)
            write(log, f"end {key}")
            return answer

        return run

    model.rules[:] = [(match, watch(reply)) for match, reply in model.rules]
    return model


def run(case: Case, folder: Path, name: str, moment: Moment) -> None:
    """Starts or resumes the thread of a moment and writes the answer down."""
    log = folder / f"{name}.log"
    connection = sqlite3.connect(folder / f"{name}.sqlite", check_same_thread=False)
    saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = case.builder(logged(case.script(), log, moment)).compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    given = None if graph.get_state(config).values else case.given()
    for _ in graph.stream(given, config, stream_mode="updates", durability="sync"):
        moment.passes("steps")
    write(log, f"answer {graph.get_state(config).values['answer']}")


def in_child(go: Callable[[str, Moment], None], name: str, moment: Moment) -> int:
    child = os.fork()
    if child == 0:
        go(name, moment)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def kill_at_every_moment(kind: str, folder: Path, go: Callable[[str, Moment], None], *, every: int = 1) -> None:
    """Starts a run a moment, each killed there and resumed, until one ends before its moment comes."""
    for number in range(1, 200, every):
        name = f"{kind}{number:03}"
        status = in_child(go, name, Moment(kind, number))
        if status == 0:
            return
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        write(folder / f"{name}.log", "killed")
        status = in_child(go, name, Moment("never", 0))
        assert status == 0, status


def main() -> None:
    case, folder, kind = CASES[sys.argv[1]](), Path(sys.argv[2]), sys.argv[3]
    # A step is stored as any other; each call has a place of its own in the run.
    every = 3 if kind == "steps" else 1
    kill_at_every_moment(kind, folder, lambda name, moment: run(case, folder, name, moment), every=every)


if __name__ == "__main__":
    main()
