"""The MCP server in a process of its own: its tools listed and called over stdio, and given to an agent's loop."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest
from local_service import Answer, serving

from langgraph_evidence.errors import ToolError
from langgraph_evidence.tools.mcp import mcp_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.tools import BaseTool

ROOT = Path(__file__).parents[2]
PASSAGES = [
    {"id": "p1", "title": "Eiffel Tower", "text": "The Eiffel Tower was built by Gustave Eiffel."},
    {"id": "p2", "title": "Gustave Eiffel", "text": "Gustave Eiffel was born in Dijon."},
]
TOOL = 'description = "Another."\nmethod = "POST"\nurl = "https://inside.invalid/"\n[dynamic_params]\nx = "An x"\n'


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "passages.jsonl").write_text("\n".join(map(json.dumps, PASSAGES)), "utf-8")
    (folder / "another.toml").write_text(TOOL, "utf-8")
    row = {
        "command": sys.executable,
        "args": [str(ROOT / "tools" / "mcp_server.py"), "--tools", str(folder)],
        "env": {"EVIDENCE_CORPUS": str(folder / "passages.jsonl"), "PYTHONPATH": str(ROOT / "src")},
    }
    return {"mcpServers": {"evidence": row}}


@pytest.fixture(scope="module")
def tools(source: dict[str, Any]) -> Iterator[dict[str, BaseTool]]:
    with mcp_tools(source, seconds=120) as found:
        yield {tool.name: tool for tool in found}


def call(tool: BaseTool, **arguments: Any) -> Any:
    return tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})


def test_tools_and_methods_are_listed(tools: dict[str, BaseTool]) -> None:
    assert {"search", "calculator", "weather", "places", "maps", "another", "furepa"} <= set(tools)
    assert set(tools["weather"].args) == {"latitude", "longitude"}
    assert tools["weather"].metadata is None
    assert tools["another"].metadata == {"idempotent": False}


async def test_results_are_text_and_data(tools: dict[str, BaseTool]) -> None:
    found = call(tools["search"], query="Who was born in Dijon?")
    assert "Gustave Eiffel was born in Dijon" in found.content
    assert found.artifact["results"][0]["id"] == "p2"
    assert await tools["calculator"].ainvoke({"expression": "6 * 7"}) == "42"


def test_wrong_arguments_are_told_to_the_model(tools: dict[str, BaseTool]) -> None:
    message = call(tools["weather"], city="Rome")
    assert message.status == "error"
    assert "no parameter 'city'" in message.content


def test_a_method_answers_with_citations_and_tells_its_progress(source: dict[str, Any]) -> None:
    from fastmcp import Client

    from langgraph_evidence.concurrency import run_sync
    from langgraph_evidence.run import RunOutput

    told: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def ask() -> Any:
        async with Client(source, timeout=300, init_timeout=120) as client:
            question = {"question": "Where was Gustave Eiffel born?"}
            return await client.call_tool("furepa", question, progress_handler=heard)

    reply = run_sync(ask())
    assert set(reply.structured_content) == set(RunOutput.__annotations__) - {"messages"}
    found = reply.structured_content
    assert bool(found["answer"]) is (found["guess"] is None)
    assert found["citations"] or found["guess"]["citations"]
    assert any(kind.startswith("furepa.") for kind in told)


@contextmanager
def serving_http(source: dict[str, Any], *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The server over HTTP while the block runs, and its port."""
    row = source["mcpServers"]["evidence"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [row["command"], *row["args"], "--http", "--port", str(port), *options]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, **row["env"]}, **quiet) as server:
        try:
            wait_for(port)
            yield server, port
        finally:
            server.terminate()


def test_over_http_it_serves_this_machine_alone(source: dict[str, Any]) -> None:
    with serving_http(source) as (server, port):
        with mcp_tools(f"http://127.0.0.1:{port}/mcp", seconds=60) as found:
            tools = {tool.name: tool for tool in found}
            assert call(tools["calculator"], expression="6 * 7").artifact == {"text": "42"}
        listening = psutil.Process(server.pid).net_connections(kind="inet")
        assert {row.laddr.ip for row in listening if row.status == "LISTEN"} == {"127.0.0.1"}


class Page:
    """What a browser would send for a web page: MCP by plain requests with the headers of that page."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self.session: dict[str, str] = {}

    def post(self, method: str, params: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accepted = {"Accept": "application/json, text/event-stream"}
        return self._http.post("/mcp", json=body, headers={**accepted, **self.session, **headers})

    def begin(self, headers: dict[str, str]) -> int:
        client = {"name": "page", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        reply = self.post("initialize", params, headers)
        if reply.is_success:
            self.session = {"Mcp-Session-Id": reply.headers["mcp-session-id"]}
        return reply.status_code

    def use_tool(self, headers: dict[str, str]) -> int:
        return self.post("tools/call", {"name": "counted", "arguments": {"x": "1"}}, headers).status_code


def test_over_http_a_web_page_runs_no_tool(source: dict[str, Any], tmp_path: Path) -> None:
    with serving(lambda arrival: Answer()) as service:
        (tmp_path / "counted.toml").write_text(TOOL.replace("https://inside.invalid", service.url), "utf-8")
        options = ["--tools", str(tmp_path), "--allow", f"127.0.0.1:{service.port}"]
        with (
            serving_http(source, *options, "--serve-host", "tools.example") as (_, port),
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as http,
        ):
            page = Page(http)
            here = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
            allowed = {"Host": "tools.example", "Origin": "http://tools.example"}
            strangers = [
                {"Host": "evil.example"},
                {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
                {"Host": "localhost.evil.example"},
                {"Origin": "http://evil.example"},
                {"Origin": "null"},
                {**allowed, "Origin": "http://evil.example"},
            ]
            refused = {page.begin(stranger) for stranger in strangers}
            assert page.begin(here) == 200
            # A page that has learnt of a session is refused like any other.
            refused |= {page.use_tool(stranger) for stranger in strangers}
            assert refused <= {403, 421}
            assert service.arrivals == []
            assert [page.use_tool(headers) for headers in ({}, here, allowed)] == [200, 200, 200]
            assert len(service.arrivals) == 3


def wait_for(port: int) -> None:
    """Waits until somebody listens."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError


def test_a_server_that_does_not_start_is_told() -> None:
    source = {"mcpServers": {"broken": {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}}}
    with pytest.raises(ToolError, match="MCP server cannot be used"), mcp_tools(source, seconds=20):
        pass
