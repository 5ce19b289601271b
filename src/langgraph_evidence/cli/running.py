"""One run of a method's graph from the command line: its steps told as they happen, and on a thread resumed."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.types import Command

from langgraph_evidence.errors import InvalidInput, MissingExtra, ResourceError
from langgraph_evidence.telling import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph import StateGraph
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Interrupt

    from langgraph_evidence.cli.options import Thread
    from langgraph_evidence.cli.screen import Screen
    from langgraph_evidence.methods import Method

    Builder = StateGraph[Any, Any, Any, Any]
    Graph = CompiledStateGraph[Any, Any, Any, Any]


def run(builder: Builder, given: dict[str, str], screen: Screen, *, method: Method) -> dict[str, Any]:
    """Runs a graph once and gives back its output."""
    return _Telling(builder.compile(), screen, method).stream(given, None)


def run_on_thread(
    builder: Builder, given: dict[str, str], screen: Screen, *, method: Method, store: Thread
) -> dict[str, Any]:
    """Runs a graph on a stored thread.

    An unfinished run of the same question goes on where it stopped; of a finished one the stored output is given back;
    any other question starts afresh.

    Raises:
        InvalidInput: The thread belongs to another method, or a tool was in use and nobody said what to do.
        ResourceError: The file is no database of threads.
    """
    thread, db = store.name, store.db
    with open_saver(db) as saver:
        graph = builder.compile(checkpointer=saver)
        config: RunnableConfig = {"configurable": {"thread_id": thread}, "metadata": {"evidence_method": method.name}}
        state = graph.get_state({"configurable": {"thread_id": thread}})
        owner = (state.metadata or {}).get("evidence_method", method.name)
        if owner != method.name:
            raise InvalidInput(f"Thread {thread!r} in {db} belongs to the method {owner!r}; give another --thread.")
        same = state.values.get(method.input_key) == given[method.input_key]
        # A task whose writes are stored is no longer in `next`, though the state lacks them yet.
        if same and not state.tasks:
            why = f"this question's run ({state.values.get('stopped')}) is over: the stored answer, without new calls"
            screen.note(f"On thread {thread} {why}. To ask again give another --thread.")
            return output_of(graph, state.values)
        if same:
            screen.note(f"Resuming thread {thread} at {', '.join(sorted({task.name for task in state.tasks}))}.")
        telling = _Telling(graph, screen, method)
        output = telling.stream(None if same else given, config)
        while graph.get_state(config).interrupts:
            output = telling.stream(_decided(graph.get_state(config).interrupts, store), config)
        return output


def _decided(interrupts: Sequence[Interrupt], store: Thread) -> Command[Any]:
    """What becomes of each tool that was in use when the run broke off."""
    if store.in_flight is None:
        uses = "; ".join(
            f"{i.value['tool']} with {i.value['arguments']} for {i.value['question']!r}" for i in interrupts
        )
        raise InvalidInput(
            f"Thread {store.name!r} broke off while a tool was in use that must not be used twice: {uses}. "
            "Give --in-flight repeat to use it again, or --in-flight skip."
        )
    return Command(resume={interrupt.id: store.in_flight for interrupt in interrupts})


def output_of(graph: Graph, values: dict[str, Any]) -> dict[str, Any]:
    """The part of a state that the graph gives back."""
    keys = graph.output_channels
    return {key: values[key] for key in ([keys] if isinstance(keys, str) else keys) if key in values}


class _Telling(NamedTuple):
    """A graph whose runs are told as the method's entry says."""

    graph: Graph
    screen: Screen
    method: Method

    def stream(self, given: dict[str, str] | Command[Any] | None, config: RunnableConfig | None) -> dict[str, Any]:
        """Starts a run, or goes on with one, and gives back its output."""
        values: dict[str, Any] = {}
        # Without a saver there is nothing to make durable, and LangGraph warns.
        durability: Any = "sync" if self.graph.checkpointer else None
        with self.screen.working("working"):
            parts: Any = self.graph.stream(given, config, stream_mode=["custom", "values"], durability=durability)
            for mode, part in parts:
                if mode == "values":
                    values = part
                else:
                    self.screen.lines(tell(part, self.method.tell))
        return output_of(self.graph, values)


@contextmanager
def open_saver(db: Path) -> Iterator[BaseCheckpointSaver[str]]:
    """Opens a file of threads, which is made when there is none.

    Raises:
        MissingExtra: The SQLite saver is not installed.
        ResourceError: The file is no SQLite database, or it cannot be written.
    """
    try:
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError as error:
        raise MissingExtra("--thread needs the SQLite saver: pip install 'langgraph-evidence[sqlite]'.") from error
    try:
        connection = sqlite3.connect(db, check_same_thread=False)
        try:
            # Strict: a database that someone altered can make nothing but plain data and messages.
            saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
            saver.setup()
            yield saver
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ResourceError(f"{db} cannot be used as a file of threads: {error}. Give another --db.") from error
