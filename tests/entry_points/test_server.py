"""`langgraph.json`: every entry loads as the server loads it; the development server streams and resumes its runs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from langgraph.graph.state import CompiledStateGraph

from langgraph_evidence.llm.loopback import ScriptedServer, serve
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ENTRIES = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
QUESTION = "Where was the director of film The Alster Case born?"
RULES = [
    ("Frederick, Maryland", "[Analysis] Haydon directed it.\n[Answer] Frederick, Maryland"),
    ("Haydon", "[Analysis] Haydon directed it.\n[Search] Where was J. Charles Haydon born?"),
    ("", ["[Search] The Alster Case film director", "[Search] Who wrote the music of a film with a case in it?"]),
]


def load(path: str) -> Any:
    """As langgraph-api does: the file under a name made up from its own, then the variable."""
    file, _, variable = path.partition(":")
    spec = importlib.util.spec_from_file_location(f"__graphs__{Path(file).stem}", ROOT / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, variable)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_loads_and_has_schemas(name: str) -> None:
    entry = ENTRIES[name]
    graph = load(entry["path"])
    assert isinstance(graph, CompiledStateGraph)
    assert graph.name == name
    assert graph.checkpointer is None, "the server brings its own"
    assert entry["description"]
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert schema["properties"]


def test_every_method_has_an_entry_and_a_chat() -> None:
    from langgraph_evidence.methods import method_names

    assert {entry for name in method_names() for entry in (name, f"{name}_chat")} <= set(ENTRIES)


def test_the_ready_made_tools_load() -> None:
    tool = load("tools/search.py:tool")
    assert "Alster" in tool.invoke({"query": "The Alster Case"})


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with serve(ScriptedChat(rules=RULES)) as running:
        yield running


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.3)
    pytest.fail(f"the server did not start:\n{log.read_text('utf-8', errors='replace')[-4000:]}")


@pytest.fixture(scope="module")
def client(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("langgraph_api", reason="the development server is in the extra `server`")
    sdk = pytest.importorskip("langgraph_sdk")
    folder = tmp_path_factory.mktemp("server")
    # In a folder of its own, where the server keeps its .langgraph_api.
    shutil.copy(ROOT / "langgraph.json", folder)
    shutil.copytree(ROOT / "graphs", folder / "graphs", ignore=shutil.ignore_patterns("__pycache__"))
    port = free_port()
    environment = {
        **os.environ,
        "EVIDENCE_MODEL": "openai:scripted",
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "none",
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "OMP_NUM_THREADS": "1",
    }
    log = folder / "log.txt"
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            wait_until_up(f"http://127.0.0.1:{port}", process, log)
            with sdk.get_sync_client(url=f"http://127.0.0.1:{port}") as connected:
                yield connected
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_the_server_shows_schemas(client: Any) -> None:
    found = {assistant["graph_id"]: assistant["assistant_id"] for assistant in client.assistants.search()}
    assert set(found) == set(ENTRIES)
    for name, identity in found.items():
        schemas = client.assistants.get_schemas(identity)
        assert schemas["input_schema"]["properties"], name
        assert schemas["output_schema"]["properties"], name
    for name, setting, bounds in (("furepa", "iterations", (1, 100, 6)), ("rebel", "depth", (0, 20, 3))):
        shown = client.assistants.get_schemas(found[name])["context_schema"]["properties"]
        assert tuple(shown[setting][key] for key in ("minimum", "maximum", "default")) == bounds
        assert shown[setting]["description"]
        assert shown["max_calls"]["anyOf"][0]["minimum"] == 1


def test_the_server_streams_a_run_and_loads_the_scorer_off_its_event_loop(client: Any) -> None:
    """The first request to the server: seeds make its samples differ, so that they have to be scored."""
    given: dict[str, Any] = {"input": {"question": QUESTION}, "context": {"seed": 0}}
    parts = list(client.runs.stream(None, "furepa", **given, stream_mode=["custom", "values"]))
    told = [part.data for part in parts if part.event == "custom"]
    kinds = [event["type"] for event in told]
    assert next(event["scorer"] for event in told if event["type"] == "furepa.query") == "trained"
    assert kinds[0] == "furepa.plans"
    assert kinds[-1] == "furepa.answer"
    output = [part.data for part in parts if part.event == "values"][-1]
    assert output["answer"] == "Frederick, Maryland"
    assert output["citations"]


def test_an_assistants_settings_are_those_of_its_runs(client: Any) -> None:
    assistant = client.assistants.create("furepa", context={"samples": 1})
    output = client.runs.wait(None, assistant["assistant_id"], input={"question": QUESTION})
    assert output["usage"]["calls"] == 3


def test_the_server_resumes_a_thread_without_repeating_a_call(client: Any, model: ScriptedServer) -> None:
    thread = client.threads.create()["thread_id"]
    model.chat.faults.extend(ScriptedChat(faults=[{"match": "Haydon", "status": 401, "times": None}]).faults)
    try:
        client.runs.wait(thread, "furepa", input={"question": QUESTION}, raise_error=False)
    finally:
        model.chat.faults.clear()
    assert client.threads.get(thread)["status"] == "error"
    before = len(model.arrivals)
    output = client.runs.wait(thread, "furepa", input=None)
    assert output["answer"] == "Frederick, Maryland"
    assert all("Haydon" in json.dumps(arrival["body"]) for arrival in model.arrivals[before:])


def test_the_chat_answers_messages(client: Any) -> None:
    output = client.runs.wait(None, "furepa_chat", input={"messages": [{"role": "user", "content": QUESTION}]})
    reply = output["messages"][-1]
    assert reply["type"] == "ai"
    assert "Frederick, Maryland" in json.dumps(reply["content"])
