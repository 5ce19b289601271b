"""Nothing but public web addresses is reached: hostile URLs, names, redirects, and the list of what is allowed."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_service import Answer, Arrival, FakeNetwork, serving

from langgraph_evidence.errors import InvalidInput, ToolError
from langgraph_evidence.tools.addresses import AllowList, refusal
from langgraph_evidence.tools.http import HttpClient, Limits
from langgraph_evidence.tools.urls import parse_url
from langgraph_evidence.tools.wire import Request

NAT64 = ip_network("64:ff9b::/96")
PUBLIC = "93.184.215.14"
FAST = Limits(attempts=1, connect=2, read=2, total=5)

HOSTILE_URLS = [
    # Addresses inside, as they are written.
    "http://127.0.0.1/",
    "http://127.1.2.3:8080/",
    "https://127.0.0.1/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://192.0.0.192/opc/v1/instance/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # The same as other numbers.
    "http://2130706433/",
    "http://2852039166/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://1.2.3.4.5/",
    "http://256.0.0.1/",
    # IPv6 and what it embeds.
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[2606:4700::5efe:7f00:1]/",
    "http://[2606:4700::200:5efe:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[fd00:ec2::254]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[::1",
    "http://[127.0.0.1]/",
    # Whose host is it?
    "http://example.com@127.0.0.1/",
    "http://user:password@example.com/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com%40127.0.0.1/",
    "http://example.com%00.internal/",
    "http://%31%32%37.0.0.1/",
    "http://127。0。0。1/",
    "http://１２７.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://ⓔxample.com/",
    "http://exämple.com/",
    "http://example.com./",
    "http://.example.com/",
    "http://example..com/",
    "http://-example.com/",
    "http://example.com:99999/",
    "http://example.com:0/",
    "http://example.com:/",
    "http://example.com:80:80/",
    "http://example.com:８０/",
    "http:///path",
    "http://:80/",
    "http:/127.0.0.1/",
    "http:127.0.0.1",
    "//127.0.0.1/",
    "127.0.0.1",
    "",
    # Other schemes.
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "gopher://example.com/",
    "ftp://example.com/",
    "dict://127.0.0.1:11211/",
    "ldap://example.com/",
    "jar:http://example.com!/",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "ws://example.com/",
    # Characters that end something.
    "http://example.com/\r\nHost: 127.0.0.1",
    "http://example.com\r\n/",
    "http://example.com/a b",
    "http://example.com/\tb",
    "http://example.com/\x00",
    "http://example.com/../../admin",
    "http://example.com/%2e%2e/admin",
    "http://example.com/.%2E/admin",
    "http://example.com/%zz",
    # Names that lead inside (below), and into nowhere.
    "http://localhost/",
    "http://LOCALHOST/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://inside.example.com/",
    "http://mixed.example.com/",
    "http://mapped.example.com/",
    "http://nowhere.example.com/",
]
NAMES = {
    "localhost": [["127.0.0.1", "::1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "inside.example.com": [["10.1.2.3"]],
    "mixed.example.com": [[PUBLIC, "192.168.0.1"]],
    "mapped.example.com": [["::ffff:10.0.0.1"]],
    "example.com": [[PUBLIC]],
}


async def fetch(url: str, network: FakeNetwork, *allow: str, repeatable: bool = True) -> str:
    client = HttpClient(allow=AllowList(allow), limits=FAST, network=network)
    return (await client.fetch(Request("GET", parse_url(url)), repeatable=repeatable)).text


@pytest.mark.parametrize("url", HOSTILE_URLS, ids=ascii)
async def test_a_hostile_url_is_refused_before_anything_is_connected(url: str) -> None:
    network = FakeNetwork(NAMES)
    with pytest.raises(ToolError):
        await fetch(url, network)
    assert network.connected == []


# A word without a scheme is a path of the same host, and a line end ends the header.
@pytest.mark.parametrize("url", [url for url in HOSTILE_URLS if url != "127.0.0.1" and "\r" not in url], ids=ascii)
async def test_a_redirect_to_a_hostile_url_is_not_followed_to_it(url: str) -> None:
    def answer(arrival: Arrival) -> Answer:
        first = arrival.path == "/first"
        return Answer(raw=b"HTTP/1.1 302 Found\r\nLocation: %b\r\n\r\n" % url.encode()) if first else Answer(b"inside")

    with serving(answer) as service:
        network = FakeNetwork(NAMES, service.port)
        with pytest.raises(ToolError):
            await fetch("http://example.com/first", network)
        assert {address for address, _ in network.connected} == {PUBLIC}


def test_there_are_enough_hostile_urls() -> None:
    assert len(set(HOSTILE_URLS)) >= 80


@pytest.mark.parametrize(
    "url",
    ["http://example.com/", "https://EXAMPLE.com:443/a?b=c", "http://93.184.215.14/", "http://[2606:4700::1111]/"],
)
async def test_a_public_address_is_connected_to(url: str) -> None:
    network = FakeNetwork(NAMES)
    with pytest.raises(ToolError, match="cannot be reached"):
        await fetch(url, network)
    assert len(network.connected) == 1


async def test_a_name_that_changes_between_check_and_connection_is_not_asked_again() -> None:
    with serving(lambda _: Answer(b'"public"')) as service:
        network = FakeNetwork({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]}, service.port)
        assert await fetch("http://rebind.example.com/", network) == '"public"'
        assert network.looked_up == ["rebind.example.com"]
        assert network.connected == [(PUBLIC, 80)]
        with pytest.raises(ToolError, match="loopback"):
            await fetch("http://rebind.example.com/", network)
        assert len(network.connected) == 1


async def test_a_name_that_changes_between_two_redirects_is_judged_again() -> None:
    with serving(lambda _: Answer(status=302, headers={"Location": "/again"})) as service:
        network = FakeNetwork({"rebind.example.com": [[PUBLIC], ["169.254.169.254"]]}, service.port)
        with pytest.raises(ToolError, match="link-local"):
            await fetch("http://rebind.example.com/", network)
        assert network.connected == [(PUBLIC, 80)]


async def test_the_machines_own_resolver_is_judged_too() -> None:
    for url in ("http://localhost/", "http://LocalHost:8080/path"):
        with pytest.raises(ToolError, match=r"loopback|not a public address"):
            await HttpClient(limits=FAST).fetch(Request("GET", parse_url(url)), repeatable=True)


async def test_a_redirect_leads_to_web_ports_alone() -> None:
    with serving(lambda _: Answer(status=302, headers={"Location": "http://example.com:6379/"})) as service:
        network = FakeNetwork(NAMES, service.port)
        with pytest.raises(ToolError, match="port 6379"):
            await fetch("http://example.com/", network)


@pytest.mark.parametrize(
    ("allow", "url", "reached"),
    [
        ("inside.example.com", "http://inside.example.com/", True),
        ("INSIDE.example.com", "http://inside.example.com:8080/", True),
        ("inside.example.com:80", "http://inside.example.com/", True),
        ("inside.example.com:80", "http://inside.example.com:8080/", False),
        ("example.com", "http://inside.example.com/", False),
        ("10.0.0.0/8", "http://inside.example.com/", True),
        ("10.0.0.0/8", "http://mapped.example.com/", True),
        ("10.1.2.3", "http://10.1.2.3/", True),
        ("10.1.2.3", "http://10.1.2.4/", False),
        ("10.1.2.3:8080", "http://10.1.2.3/", False),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/", True),
        ("[::1]:80", "http://[::1]/", True),
        ("fd00::/8", "http://[fd00::5]/", True),
        ("fd00::/8", "http://[fe80::5]/", False),
        ("192.168.0.0/16", "http://mixed.example.com/", True),
        # A name does not open the way to credentials; its network, written out, does.
        ("metadata.google.internal", "http://metadata.google.internal/", False),
        ("169.254.169.254", "http://metadata.google.internal/", True),
    ],
)
async def test_the_allow_list_opens_what_it_names(allow: str, url: str, reached: bool) -> None:
    network = FakeNetwork(NAMES)
    with pytest.raises(ToolError, match="cannot be reached" if reached else "refused"):
        await fetch(url, network, allow)
    assert bool(network.connected) is reached


@pytest.mark.parametrize(
    "entry", ["", "http://a", "a b", "10.0.0.1/8", "[::1", "a:0", "a:70000", "256.1.1.1", "0x7f.1", "fd00::5"]
)
def test_a_malformed_entry_is_refused(entry: str) -> None:
    with pytest.raises(InvalidInput, match="host or network"):
        AllowList([entry])


@given(st.ip_addresses(v=4))
def test_no_public_address_is_one_that_python_calls_private(address: object) -> None:
    found = ip_address(str(address))
    if refusal(found) is None:
        assert found.is_global
        assert not found.is_multicast


@given(st.ip_addresses(v=6))
def test_the_same_in_ipv6(address: object) -> None:
    found = ip_address(str(address))
    if refusal(found) is None and found not in NAT64:
        assert found.is_global
        assert not found.is_multicast


@given(st.text(max_size=60) | st.from_regex(r"https?://[a-z0-9.@:\[\]%/\\-]{0,40}", fullmatch=True))
def test_any_text_is_a_url_or_refused(text: str) -> None:
    try:
        url = parse_url(text)
    except ToolError:
        return
    assert url.scheme in {"http", "https"}
    assert url.host == url.host.lower()
    assert parse_url(url.whole) == url
