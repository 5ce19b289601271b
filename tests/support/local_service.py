"""A web service on loopback that replies by a script, and a network in which any name leads to it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Thread
from typing import TYPE_CHECKING, Any

from langgraph_evidence.tools.wire import Network

if TYPE_CHECKING:
    import asyncio
    import ssl
    from collections.abc import Callable, Iterator

    from langgraph_evidence.tools.addresses import Address


@dataclass
class Arrival:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """What is sent back; a `raw` answer is all that is sent."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    raw: bytes = b""


@dataclass
class Service:
    """A running service: where it is and what came."""

    port: int
    arrivals: list[Arrival] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(answer: Callable[[Arrival], Answer], *, tls: ssl.SSLContext | None = None) -> Iterator[Service]:
    """Runs a service while the block runs; with a context, an encrypted one."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            arrival = Arrival(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
            service.arrivals.append(arrival)
            found = answer(arrival)
            try:
                if found.raw:
                    self.wfile.write(found.raw)
                    return
                self.send_response(found.status)
                for name, value in found.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(found.body)
            except OSError:
                pass  # the client hung up, as it does after a time-out

        do_POST = do_GET  # noqa: N815 - the base class asks for this name

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    service = Service(server.server_address[1])
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class FakeNetwork(Network):
    """Names by a table; whatever address is connected to, the service answers.

    Args:
        names: The answers to each look-up of a name, in order; the last is repeated.
        port: The service's port on loopback.
    """

    def __init__(self, names: dict[str, list[list[str]]], port: int = 0) -> None:
        self.names = {name: list(answers) for name, answers in names.items()}
        self.port = port
        self.looked_up: list[str] = []
        self.connected: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> list[Address]:
        self.looked_up.append(host)
        answers = self.names.get(host) or [[]]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ip_address(address) for address in found]

    async def connect(
        self, address: Address, port: int, *, server_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.connected.append((str(address), port))
        if not self.port:
            raise ConnectionRefusedError
        return await super().connect(ip_address("127.0.0.1"), self.port, server_name=None)
