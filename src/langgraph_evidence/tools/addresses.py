"""Which network addresses a tool's request may reach: public ones, and those that the user has allowed by name."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

Address = IPv4Address | IPv6Address

# Written out and not asked of `is_global`, whose answer differs between versions of Python.
_REFUSED_V4 = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a carrier",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata service",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "for documentation",
    "192.88.99.0/24": "a 6to4 relay",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_REFUSED_V6 = {
    "2001::/23": "reserved, or Teredo",
    "2001:db8::/32": "for documentation",
    "2002::/16": "6to4",
    "3fff::/20": "for documentation",
}
_V4_RULES = [(IPv4Network(network), word) for network, word in _REFUSED_V4.items()]
_V6_RULES = [(IPv6Network(network), word) for network, word in _REFUSED_V6.items()]
_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = {0x00005EFE, 0x02005EFE}
_METADATA = [
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::/32", "fe80::/10",
    )
]  # fmt: skip

_ENTRY = re.compile(
    r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<host>[A-Za-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?|(?P<network>[0-9a-fA-F:.]+/[0-9]+)"
)


def plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for (mapped or NAT64), else the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def refusal(address: Address) -> str | None:
    """Why a request may not reach an address that nobody has allowed, in a word or two; None for a public address."""
    known = plain(address)
    if isinstance(known, IPv4Address):
        return next((word for network, word in _V4_RULES if known in network), None)
    if known not in _GLOBAL_V6:
        return "not a public address"
    if (int(known) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "an IPv4 address in disguise"
    return next((word for network, word in _V6_RULES if known in network), None)


@dataclass(frozen=True)
class _Rule:
    """One entry of an allow-list: a name or a network, on one port or on all."""

    name: str | None
    network: IPv4Network | IPv6Network | None
    port: int | None

    def permits(self, host: str, port: int, address: Address) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return address in self.network
        # Whoever answers for a name must not be able to point it at the machine's credentials.
        return self.name == host and not any(address in network for network in _METADATA)


class AllowList:
    """The hosts and networks inside that tools may reach although they are not public.

    Args:
        entries: `host`, `host:port`, `10.0.0.5`, `10.0.0.5:8080`, `10.0.0.0/8`, `[fd00::5]:8080` or `fd00::/8`. A host
            by name does not reach link-local and metadata addresses; their network must be written out.

    Raises:
        InvalidInput: An entry is none of these.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._rules = tuple(_rule(entry) for entry in entries)

    def permits(self, host: str, port: int, address: Address) -> bool:
        """Whether a request to `host` that resolved to `address` was allowed explicitly."""
        known = plain(address)
        return any(rule.permits(host, port, known) for rule in self._rules)


def _rule(entry: str) -> _Rule:
    match = _ENTRY.fullmatch(entry.strip())
    if match is None or not 0 < int(match["port"] or 1) < 65536:
        raise _malformed(entry)
    port = int(match["port"]) if match["port"] else None
    written = match["network"] or match["v6"] or match["host"]
    try:
        return _Rule(None, ipaddress.ip_network(written), port)
    except ValueError as error:
        if match["host"] is None or ends_in_number(written):
            raise _malformed(entry) from error
    return _Rule(written.lower(), None, port)


def ends_in_number(host: str) -> bool:
    """Whether a host would be read as an IPv4 address by somebody (WHATWG URL, 'ends in a number')."""
    last = host.rpartition(".")[2].lower()
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _malformed(entry: str) -> InvalidInput:
    return InvalidInput(
        f"{entry!r} is not a host or network to allow; write host, host:port, 10.0.0.0/8, [fd00::5]:8080 or fd00::/8 "
        "(the address of a network has no bits of its hosts)."
    )
