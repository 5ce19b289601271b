"""URLs of tools: read strictly, so that no two readers can see two hosts in one, and filled with encoded values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from langgraph_evidence.errors import ToolError
from langgraph_evidence.tools.addresses import ends_in_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.tools.addresses import Address

MAX_LENGTH = 8000
PORTS = {"http": 80, "https": 443}

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
)
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[A-Za-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?")
_LABELS = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*")
# `;` and the rest are allowed by RFC 3986; a backslash, a quote or a bracket is read differently by different readers.
_VISIBLE = re.compile(r"(?:[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=#]|%[0-9A-Fa-f]{2})*")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Url:
    """A checked URL; `target`, its path and query, may hold a secret and is not shown."""

    scheme: str
    host: str
    port: int
    target: str = field(repr=False)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    @property
    def address(self) -> Address | None:
        """The address, where the host is written as one."""
        if ":" in self.host:
            return IPv6Address(self.host)
        return IPv4Address(self.host) if ends_in_number(self.host) else None

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header gives them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def whole(self) -> str:
        """The whole URL; it may hold a secret, so it is for requests alone."""
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_url(text: str) -> Url:
    """Reads an absolute http or https URL.

    Raises:
        ToolError: It is anything else, or could be read in two ways; the message holds neither path nor query.
    """
    if len(text) > MAX_LENGTH:
        raise ToolError(f"The URL has {len(text):,} characters; at most {MAX_LENGTH:,} are allowed.")
    match = _URL.fullmatch(text)
    if match is None:
        raise ToolError("The URL is not of the form https://host/path.")
    scheme = match["scheme"].lower()
    if scheme not in PORTS:
        raise ToolError(f"The URL's scheme is {scheme!r}; only http and https are allowed.")
    if not _VISIBLE.fullmatch(text):
        raise ToolError("The URL holds a character that must be percent-encoded.")
    host, port = _authority(match["authority"], scheme)
    path = match["path"] or "/"
    if any(re.fullmatch(r"(?:\.|%2e){1,2}", part, re.IGNORECASE) for part in path.split("/")):
        raise ToolError("The URL's path holds a '.' or '..' segment.")
    return Url(scheme, host, port, path + (match["query"] or ""))


def _authority(authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise ToolError("The URL holds a user name or password before its host; none is allowed.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise ToolError("The URL's host is missing, or is not a plain host name or address (no zone, no encoding).")
    port = int(match["port"]) if match["port"] else PORTS[scheme]
    if not 0 < port < 65536:
        raise ToolError(f"The URL's port is {port}; ports are 1 to 65535.")
    return (_v6(match["v6"]) if match["v6"] else _name(match["name"])), port


def _v6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except ValueError:
        raise ToolError("The URL's host is in brackets but is not an IPv6 address.") from None


def _name(text: str) -> str:
    if ends_in_number(text):
        try:
            return str(IPv4Address(text))
        except ValueError:
            raise ToolError(
                f"The URL's host {text!r} is a number, but not four decimal ones of an IPv4 address."
            ) from None
    if len(text) > 253 or not _LABELS.fullmatch(text):
        raise ToolError("The URL's host is not a host name (labels of letters, digits and hyphens, no dot at the end).")
    return text.lower()


def join(base: Url, reference: str) -> Url:
    """The URL that a reference in a reply to `base` leads to.

    Raises:
        ToolError: It is refused. Only a path is read with the help of `base`; all else must stand by itself.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", reference):
        return parse_url(reference)
    if reference.startswith("//"):
        return parse_url(f"{base.scheme}:{reference}")
    if not _VISIBLE.fullmatch(reference):
        raise ToolError(f"{base.host} redirects to what is not a URL.")
    return parse_url(urljoin(base.whole, reference))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Puts values into the `{placeholders}` of a URL; each is percent-encoded whole, so none can end its own place."""
    return PLACEHOLDER.sub(lambda match: quote(values[match[1]], safe=""), template)


def with_query(url: str, values: Mapping[str, str]) -> str:
    """Adds values to a URL's query, names and values percent-encoded."""
    if not values:
        return url
    pairs = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in values.items())
    separator = "?" if "?" not in url else "" if url.endswith(("?", "&")) else "&"
    return f"{url}{separator}{pairs}"
