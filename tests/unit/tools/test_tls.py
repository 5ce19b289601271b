"""Encrypted requests go to the judged address, ask for the host by name, and check its certificate."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from local_service import Answer, FakeNetwork, serving

from langgraph_evidence.errors import ToolError
from langgraph_evidence.tools import wire
from langgraph_evidence.tools.http import HttpClient, Limits
from langgraph_evidence.tools.urls import parse_url
from langgraph_evidence.tools.wire import Network, Request

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from langgraph_evidence.tools.addresses import Address

PUBLIC = "93.184.215.14"


class Inside(FakeNetwork):
    """Connects to loopback, encrypted as it would be to the address."""

    async def connect(
        self, address: Address, port: int, *, server_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.connected.append((str(address), port))
        return await Network.connect(self, ip_address("127.0.0.1"), self.port, server_name=server_name)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of example.com, by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "example.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.com")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


async def fetch(host: str, certificate: Path, asked: list[str | None]) -> tuple[str, Inside]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    with serving(lambda _: Answer(b'"safe"'), tls=context) as service:
        network = Inside({host: [[PUBLIC]]}, service.port)
        client = HttpClient(limits=Limits(first_wait=0.01), network=network)
        reply = await client.fetch(Request("GET", parse_url(f"https://{host}/")), repeatable=True, confidential=True)
    return reply.text, network


async def test_the_host_is_asked_for_by_name_at_the_judged_address(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_tls", lambda: ssl.create_default_context(cafile=str(certificate)))
    asked: list[str | None] = []
    text, network = await fetch("example.com", certificate, asked)
    assert text == '"safe"'
    assert asked == ["example.com"]
    assert network.connected == [(PUBLIC, 443)]


async def test_a_certificate_of_another_host_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_tls", lambda: ssl.create_default_context(cafile=str(certificate)))
    with pytest.raises(ToolError, match="SSLCertVerificationError") as caught:
        await fetch("example.org", certificate, [])
    assert not caught.value.transient


async def test_a_certificate_that_nobody_vouches_for_is_refused_once(certificate: Path) -> None:
    asked: list[str | None] = []
    with pytest.raises(ToolError, match="SSLCertVerificationError"):
        await fetch("example.com", certificate, asked)
    assert asked == ["example.com"]
