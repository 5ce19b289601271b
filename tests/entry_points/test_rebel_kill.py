"""Three APIs that must not be used twice: killed after a use went out, the run asks what became of it."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.parse
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from rebel_world import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterator

SUPPORT = Path(__file__).parents[1] / "support"


class Api(ThreadingHTTPServer):
    """Answers `?q=` from the facts and records what it was asked."""

    daemon_threads = True
    asked: list[str]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["q"][0]
        assert isinstance(self.server, Api)
        self.server.asked.append(query)
        body = FACTS[query].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def api() -> Iterator[Api]:
    server = Api(("127.0.0.1", 0), Handler)
    server.asked = []
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def kill_and_resume(folder: Path) -> tuple[list[Path], list[int]]:
    """The log of every moment, the last of which was not killed, and how often each API was asked."""
    path = os.pathsep.join([str(SUPPORT), *sys.path])
    with ExitStack() as stack:
        servers = [stack.enter_context(api()) for _ in FACTS]
        ports = [str(server.server_port) for server in servers]
        done = subprocess.run(
            [sys.executable, str(SUPPORT / "rebel_killed.py"), str(folder), *ports],
            env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("*.log")), [len(server.asked) for server in servers]


def test_a_use_that_went_out_and_must_not_go_out_twice_is_asked_about(tmp_path: Path) -> None:
    logs, asked = kill_and_resume(tmp_path)
    assert len(logs) == len(FACTS) + 1
    for log, question in zip(logs, FACTS, strict=False):
        lines = log.read_text().splitlines()
        assert [line for line in lines if line.startswith("asked")] == [f"asked {question}"]
        assert lines[-1] == "answer 12 degrees"
    assert asked == [len(logs)] * len(FACTS)
