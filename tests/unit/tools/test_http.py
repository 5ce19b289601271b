"""The client of tools against real services on loopback: what it sends, reads, retries and gives up on."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from local_service import Answer, Arrival, FakeNetwork, serving

from langgraph_evidence.errors import InvalidInput, ToolError
from langgraph_evidence.tools.addresses import AllowList
from langgraph_evidence.tools.http import HttpClient, HttpReply, Limits
from langgraph_evidence.tools.urls import parse_url
from langgraph_evidence.tools.wire import Request

JSON = {"Content-Type": "application/json"}


def client(**limits: float) -> HttpClient:
    given: dict[str, float] = {"first_wait": 0.01, "total": 10, "read": 5, **limits}
    return HttpClient(allow=AllowList(["127.0.0.1"]), limits=Limits(**given))  # type: ignore[arg-type]  # counts are ints


async def get(url: str, *, repeatable: bool = True, **limits: float) -> HttpReply:
    return await client(**limits).fetch(Request("GET", parse_url(url)), repeatable=repeatable)


async def post(url: str, *, repeatable: bool = False, **limits: float) -> HttpReply:
    request = Request("POST", parse_url(url), b'{"a": [1, [2]]}')
    return await client(**limits).fetch(request, repeatable=repeatable)


async def test_get_sends_what_it_is_given_and_nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(lambda _: Answer(b'{"a": "\xc3\xa9"}')) as service:
        reply = await get(f"{service.url}/path?q=a%20b")
    assert reply == HttpReply(200, '{"a": "é"}', cut=False)
    arrival = service.arrivals[0]
    assert (arrival.method, arrival.path) == ("GET", "/path?q=a%20b")
    assert arrival.headers == {
        "Host": f"127.0.0.1:{service.port}",
        "User-Agent": "langgraph-evidence",
        "Accept": "application/json, text/*;q=0.9",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }


async def test_post_sends_json() -> None:
    with serving(lambda arrival: Answer(arrival.body)) as service:
        assert json.loads((await post(service.url)).text) == {"a": [1, [2]]}
    assert service.arrivals[0].headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain", b"hello", "hello"),
        ("text/html; charset=ISO-8859-1", b"\xe9", "é"),
        ("application/geo+json", b"[]", "[]"),
        ('application/json; charset="utf-8"', b"1", "1"),
        ("text/plain; charset=zlib", b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
async def test_text_and_json_are_read(kind: str, body: bytes, text: str) -> None:
    with serving(lambda _: Answer(body, headers={"Content-Type": kind})) as service:
        assert (await get(service.url)).text == text


@pytest.mark.parametrize("kind", ["image/png", "application/octet-stream", "application/pickle", "", "textual/json"])
async def test_other_types_are_refused(kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    with serving(lambda _: Answer(b"x", headers=headers)) as service, pytest.raises(ToolError, match="JSON or text"):
        await get(service.url)
    assert len(service.arrivals) == 1


async def test_a_compressed_bomb_is_not_opened() -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    with (
        serving(lambda _: Answer(bomb, headers={**JSON, "Content-Encoding": "gzip"})) as service,
        pytest.raises(ToolError, match="compressed"),
    ):
        await get(service.url)


async def test_a_huge_reply_is_cut_while_it_comes() -> None:
    with serving(lambda _: Answer(b"x" * 20_000_000, headers={"Content-Type": "text/plain"})) as service:
        reply = await get(service.url, bytes=100_000)
    assert reply.cut
    assert len(reply.text) == 100_000


async def test_a_slow_service_is_given_up_on() -> None:
    def answer(_: Arrival) -> Answer:
        time.sleep(1.5)
        return Answer()

    with serving(answer) as service:
        began = time.monotonic()
        with pytest.raises(ToolError, match="sent nothing") as caught:
            await get(service.url, read=0.1, attempts=1)
        assert caught.value.transient
        with pytest.raises(ToolError, match="no reply within"):
            await get(service.url, total=0.2, attempts=1)
        assert time.monotonic() - began < 1.4


async def test_an_unending_head_is_refused() -> None:
    with (
        serving(lambda _: Answer(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000)) as service,
        pytest.raises(ToolError, match=r"not an HTTP response|broke"),
    ):
        await get(service.url, attempts=1)


@pytest.mark.parametrize(
    "raw", [b"SSH-2.0-OpenSSH\r\n", b"\x00\x01\x02", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"]
)
async def test_what_is_no_response_is_refused(raw: bytes) -> None:
    with serving(lambda _: Answer(raw=raw)) as service, pytest.raises(ToolError, match=r"not an HTTP response|broke"):
        await get(service.url, attempts=1)


async def test_redirects_are_followed_to_a_bound() -> None:
    with (
        serving(lambda arrival: Answer(status=302, headers={"Location": arrival.path + "x"})) as service,
        pytest.raises(ToolError, match="more than 3 times"),
    ):
        await get(f"{service.url}/", redirects=3)
    assert [arrival.path for arrival in service.arrivals] == ["/", "/x", "/xx", "/xxx"]


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
async def test_a_post_is_redirected_as_the_standard_says(status: int, method: str) -> None:
    def answer(arrival: Arrival) -> Answer:
        return Answer() if arrival.path == "/there" else Answer(status=status, headers={"Location": "/there"})

    with serving(answer) as service:
        await post(service.url)
    assert [arrival.method for arrival in service.arrivals] == ["POST", method]
    assert bool(service.arrivals[1].body) is (method == "POST")


async def test_a_body_is_not_carried_to_another_host() -> None:
    with serving(lambda _: Answer()) as other:
        away = Answer(status=307, headers={"Location": other.url})
        with serving(lambda _: away) as service, pytest.raises(ToolError, match="another host"):
            await post(service.url)
    assert other.arrivals == []


async def test_https_does_not_lead_to_http() -> None:
    with serving(lambda _: Answer(status=302, headers={"Location": "http://example.com/"})) as service:
        network = FakeNetwork({"example.com": [["93.184.215.14"]]}, service.port)
        with pytest.raises(ToolError, match="https to http"):
            await HttpClient(network=network).fetch(Request("GET", parse_url("https://example.com/")), repeatable=True)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_a_transient_failure_is_tried_again(status: int) -> None:
    answers = iter([Answer(status=status), Answer(status=status), Answer(b'"at last"')])
    with serving(lambda _: next(answers)) as service:
        assert (await get(service.url)).text == '"at last"'


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422, 501])
async def test_any_other_failure_is_not(status: int) -> None:
    with (
        serving(lambda _: Answer(status=status)) as service,
        pytest.raises(ToolError, match=f"status {status}") as caught,
    ):
        await get(service.url)
    assert (caught.value.status, caught.value.transient) == (status, False)
    assert len(service.arrivals) == 1


async def test_tries_end() -> None:
    with serving(lambda _: Answer(status=503)) as service, pytest.raises(ToolError) as caught:
        await get(service.url, attempts=2)
    assert caught.value.transient
    assert len(service.arrivals) == 2


@pytest.mark.parametrize(("status", "tries"), [(503, 1), (500, 1), (429, 3)])
async def test_what_may_have_been_done_is_not_done_again(status: int, tries: int) -> None:
    with serving(lambda _: Answer(status=status)) as service, pytest.raises(ToolError):
        await post(service.url)
    assert len(service.arrivals) == tries


async def test_a_failure_behind_a_redirect_does_not_repeat_the_post_before_it() -> None:
    def answer(arrival: Arrival) -> Answer:
        return Answer(status=429) if arrival.path == "/b" else Answer(status=303, headers={"Location": "/b"})

    with serving(answer) as service, pytest.raises(ToolError):
        await post(service.url)
    assert [arrival.method for arrival in service.arrivals] == ["POST", "GET"]


async def test_the_service_says_when_to_try_again() -> None:
    answers = iter([Answer(status=429, headers={**JSON, "Retry-After": "1"}), Answer()])
    began = time.monotonic()
    with serving(lambda _: next(answers)) as service:
        await get(service.url)
    assert 1 <= time.monotonic() - began < 5


async def test_an_unreachable_service_is_told_by_its_host_alone() -> None:
    with pytest.raises(ToolError, match="cannot be reached on port 9") as caught:
        await get("http://127.0.0.1:9/path?key=secret", attempts=2)
    assert "secret" not in str(caught.value)
    assert caught.value.transient


async def test_the_next_address_of_a_name_is_tried_when_one_does_not_answer() -> None:
    class Second(FakeNetwork):
        async def connect(self, address, port, *, server_name):  # type: ignore[no-untyped-def]  # as the base class
            if len(self.connected) == 0:
                self.connected.append((str(address), port))
                raise ConnectionRefusedError
            return await super().connect(address, port, server_name=server_name)

    with serving(lambda _: Answer()) as service:
        network = Second({"example.com": [["93.184.215.14", "93.184.215.15"]]}, service.port)
        await HttpClient(network=network).fetch(Request("GET", parse_url("http://example.com/")), repeatable=True)
    assert network.connected == [("93.184.215.14", 80), ("93.184.215.15", 80)]


async def test_a_secret_is_not_sent_in_the_clear() -> None:
    network = FakeNetwork({"example.com": [["93.184.215.14"]]})
    request = Request("GET", parse_url("http://example.com/"))
    with pytest.raises(ToolError, match="in the clear"):
        await HttpClient(network=network).fetch(request, repeatable=True, confidential=True)
    assert network.connected == []


def test_requests_and_replies_do_not_show_their_urls() -> None:
    assert "secret" not in repr(Request("POST", parse_url("http://example.com/?key=secret"), b"secret"))


@pytest.mark.parametrize("limits", [{"total": 0}, {"attempts": 0}, {"bytes": -1}, {"read": float("nan")}])
def test_limits_are_checked(limits: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(limits))):
        Limits(**limits)  # type: ignore[arg-type]  # on purpose
