"""What may pass and what may not, whichever client says it."""

from __future__ import annotations

import json

import httpx
import pytest

from langgraph_evidence.llm.bodies import BadBody
from langgraph_evidence.retrying import is_transient, retry_after, status_of

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def refused(status: int, **headers: str) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status, headers=headers))


@pytest.mark.parametrize(
    ("status", "again"), [(408, True), (409, True), (425, True), (429, True), (500, True), (503, True), (529, True),
                          (400, False), (401, False), (404, False), (422, False), (501, False),
                          (200, True)],
)  # fmt: skip
def test_a_status_decides_where_there_is_one(status: int, again: bool) -> None:
    assert status_of(refused(status)) == status
    assert is_transient(refused(status)) is again


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (httpx.ConnectError("x"), True),
        (httpx.ReadTimeout("x"), True),
        (httpx.RemoteProtocolError("x"), True),
        (type("APIConnectionError", (Exception,), {})("of a provider"), True),
        (ConnectionResetError("x"), True),
        (TimeoutError("x"), True),
        (BadBody("no choices"), True),
        (json.JSONDecodeError("cut", "{", 1), True),
        (httpx.InvalidURL("x"), False),
        (ValueError("x"), False),
    ],
)
def test_a_broken_connection_may_pass_and_a_mistake_may_not(error: Exception, again: bool) -> None:
    assert status_of(error) is None
    assert is_transient(error) is again


@pytest.mark.parametrize(("said", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-1", None), ("nan", None), ("soon", None)])
def test_a_server_says_how_long_to_wait(said: str, seconds: float | None) -> None:
    assert retry_after(refused(429, **{"retry-after": said})) == seconds
    assert retry_after(ValueError("x")) is None
