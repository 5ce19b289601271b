"""One HTTP exchange with one address: no proxy, no environment, no cookies, no decompression, and nothing is logged.

An HTTP client library logs whole URLs and response headers; a secret in a query would be among them.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

import h11

if TYPE_CHECKING:
    from langgraph_evidence.tools.addresses import Address
    from langgraph_evidence.tools.urls import Url

_CHUNK = 65_536


@dataclass(frozen=True)
class Request:
    """What is sent; URL and body may hold secrets and are not shown."""

    method: str
    url: Url = field(repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Response:
    """What came back; `cut` says that the body went on."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    cut: bool


class Network:
    """Names and connections; a test, or an application with a resolver of its own, puts another in its place."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        """The addresses of a name.

        Raises:
            OSError: The name is not known.
        """
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(str(row[4][0]).partition("%")[0]) for row in rows))

    async def connect(
        self, address: Address, port: int, *, server_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connects to that address and no other; with a server name, encrypted and checked against it.

        Raises:
            OSError: Nobody answers, or the certificate is not the server's.
        """
        context = _tls() if server_name is not None else None
        family = {IPv4Address: socket.AF_INET, IPv6Address: socket.AF_INET6}[type(address)]
        return await asyncio.open_connection(
            str(address), port, ssl=context, server_hostname=server_name, family=family, flags=socket.AI_NUMERICHOST
        )


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


async def exchange(
    request: Request, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], *, wait: float, most_bytes: int
) -> Response:
    """Sends a request and reads its response, at most so many bytes of the body; the connection is closed after it.

    Raises:
        TimeoutError: Nothing came for `wait` seconds.
        OSError: The connection broke.
        h11.RemoteProtocolError: What came is no HTTP response.
    """
    reader, writer = streams
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_CHUNK)
    try:
        for event in _events(request):
            writer.write(connection.send(event) or b"")
        async with asyncio.timeout(wait):
            await writer.drain()
        return await _receive(connection, reader, wait=wait, most_bytes=most_bytes)
    finally:
        writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await writer.wait_closed()


def _events(request: Request) -> list[h11.Request | h11.Data | h11.EndOfMessage]:
    headers = [
        ("Host", request.url.authority),
        ("User-Agent", "langgraph-evidence"),
        ("Accept", "application/json, text/*;q=0.9"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
    ]
    if request.method == "POST":
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(request.body)))]
    head = h11.Request(method=request.method, target=request.url.target, headers=headers)
    return [head, *([h11.Data(data=request.body)] if request.body else []), h11.EndOfMessage()]


async def _receive(
    connection: h11.Connection, reader: asyncio.StreamReader, *, wait: float, most_bytes: int
) -> Response:
    head: h11.Response | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            async with asyncio.timeout(wait):
                connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        if head is not None and (isinstance(event, h11.EndOfMessage) or len(body) > most_bytes):
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in head.headers}
            return Response(head.status_code, headers, bytes(body[:most_bytes]), cut=len(body) > most_bytes)
