"""The secret of a static parameter occurs nowhere: stream, checkpoints, logs, errors, output, searched byte by byte."""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from local_service import Answer, Arrival, serving
from typing_extensions import TypedDict

from langgraph_evidence.errors import ToolError
from langgraph_evidence.tools.declarative import parse_tool
from langgraph_evidence.tools.http import Limits
from langgraph_evidence.tools.http_tool import http_tool
from langgraph_evidence.tools.secrets import Vault

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.tools import BaseTool

SECRET = 'k3y/with "quotes" & ümlaut+20%'
ONCE = [
    SECRET,
    quote(SECRET, safe=""),
    quote(SECRET),
    json.dumps(SECRET)[1:-1],
    json.dumps(SECRET, ensure_ascii=False)[1:-1],
]
TWICE = [json.dumps(form)[1:-1] for form in ONCE] + [json.dumps(form, ensure_ascii=False)[1:-1] for form in ONCE]
FORMS = [*ONCE, *TWICE]
# As `repr` shows them.
SEARCHED = [*FORMS, *(repr(form)[1:-1] for form in FORMS)]
FILE = """
description = "The weather."
method = "{method}"
url = "{url}"
[dynamic_params]
city = "A city"
[static_params]
key = {{ env = "WEATHER_KEY" }}
"""


def make(url: str, *, method: str = "GET", environment: dict[str, str] | None = None, **limits: Any) -> BaseTool:
    spec = parse_tool(FILE.format(url=url, method=method).encode(), name="weather", source="weather.toml")
    found = {"WEATHER_KEY": SECRET} if environment is None else environment
    given = {"first_wait": 0.01, "attempts": 2, **limits}
    return http_tool(spec, environment=found, allow=["127.0.0.1"], limits=Limits(**given))


def echo(arrival: Arrival) -> Answer:
    """Repeats all it was sent, as it was sent and decoded: the worst an honest service does."""
    decoded = dict(parse_qsl(urlsplit(arrival.path).query))
    told = [arrival.path, decoded, arrival.body.decode(), json.loads(arrival.body or b"{}"), decoded.get("key", "")]
    return Answer(json.dumps(told).encode() + json.dumps(told, ensure_ascii=False).encode())


def redirecting(arrival: Arrival) -> Answer:
    if arrival.path.startswith("/there"):
        return echo(arrival)
    return Answer(status=307, headers={"Location": arrival.path.replace("/", "/there", 1)})


def refusing(arrival: Arrival) -> Answer:
    return Answer(echo(arrival).body, status=400)


def breaking(arrival: Arrival) -> Answer:
    return Answer(echo(arrival).body, status=503, headers={"Content-Type": "text/plain", "X-Key": arrival.path})


def hostile(arrival: Arrival) -> Answer:
    return Answer(status=302, headers={"Location": f"http://169.254.169.254{arrival.path}"})


def binary(arrival: Arrival) -> Answer:
    return Answer(echo(arrival).body, headers={"Content-Type": "image/" + quote(SECRET, safe="")})


class Trace(BaseCallbackHandler):
    """What a tracer is told."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(repr((args, kwargs)))

    def on_tool_end(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(repr((args, kwargs)))

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.seen.append(repr((error, kwargs)) + "".join(traceback.format_exception(error)))


class State(TypedDict):
    city: str
    reply: str


def search(found: str | bytes) -> list[str]:
    """The forms of the secret that occur."""
    data = found if isinstance(found, bytes) else found.encode("utf-8", "surrogatepass")
    return [form for form in SEARCHED if form.encode().lower() in data.lower()]


def run(tool: BaseTool, database: Path, config: Any) -> list[str]:
    """Uses the tool in a graph with checkpoints; all that is seen of the run."""

    def use(state: State) -> dict[str, str]:
        message = tool.invoke({"type": "tool_call", "id": "1", "name": "weather", "args": {"city": state["city"]}})
        return {"reply": str(message.content)}

    builder = StateGraph(State)
    builder.add_node("use", use)
    builder.add_edge(START, "use")
    builder.add_edge("use", END)
    connection = sqlite3.connect(database, check_same_thread=False)
    graph = builder.compile(checkpointer=SqliteSaver(connection))
    given: Any = {"city": "Rome"}
    seen = []
    try:
        seen += [
            repr(part) for part in graph.stream(given, config, stream_mode=["values", "updates", "debug", "custom"])
        ]
    except ToolError as error:
        seen += [repr(error), *traceback.format_exception(error), repr(vars(error))]
    seen += [repr(snapshot) for snapshot in graph.get_state_history(config)]
    connection.close()
    return seen


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("answer", [echo, redirecting, refusing, breaking, hostile, binary])
def test_a_secret_occurs_nowhere(
    answer: Any, method: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "h11", "asyncio", "langchain", "langgraph"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    trace, seen = Trace(), list[str]()
    with serving(answer) as service:
        for path in ("/", "/{key}/x") if method == "GET" else ("/",):
            tool = make(service.url + path, method=method)
            seen += [repr(tool), str(tool), repr(tool.args_schema), repr(vars(tool)), tool.model_dump_json()]
            seen += run(
                tool, tmp_path / "checkpoints.sqlite", {"configurable": {"thread_id": path}, "callbacks": [trace]}
            )
        sent = [arrival.path + arrival.body.decode() for arrival in service.arrivals]
    assert all(search(request) for request in sent), "the service must have got the secret"
    assert len(sent) >= 1
    output = capfd.readouterr()
    logs = "\n".join(f"{record.getMessage()} {record.args!r} {record.exc_text}" for record in caplog.records)
    assert trace.seen
    assert search("\n".join([*seen, *trace.seen, logs, output.out, output.err])) == []
    for file in tmp_path.iterdir():
        assert search(file.read_bytes()) == [], file


def test_the_reply_names_the_secret_in_its_place() -> None:
    with serving(echo) as service:
        assert "[secret WEATHER_KEY]" in make(service.url).invoke({"city": "Rome"})


def test_a_secret_is_fetched_when_the_request_is_made() -> None:
    environment: dict[str, str] = {}
    with serving(lambda _: Answer()) as service:
        tool = make(service.url, environment=environment)
        with pytest.raises(ToolError, match="environment variable WEATHER_KEY is not set"):
            tool.invoke({"city": "Rome"})
        environment["WEATHER_KEY"] = "first"
        tool.invoke({"city": "Rome"})
        environment["WEATHER_KEY"] = "second"
        tool.invoke({"city": "Rome"})
    assert [dict(parse_qsl(urlsplit(arrival.path).query))["key"] for arrival in service.arrivals] == ["first", "second"]


@pytest.mark.parametrize("value", ["", "abc", "with-a-line-end\n", "tab\tinside", "      "])
def test_a_secret_that_could_not_be_kept_is_refused(value: str) -> None:
    with pytest.raises(ToolError, match="KEY") as caught:
        Vault({"KEY": value}).get("KEY")
    assert not value.strip() or value.strip() not in str(caught.value)


def test_a_secret_cut_in_two_at_the_end_is_taken_out() -> None:
    secret = "x" * 10 + "y" * 10
    text = Vault({"KEY": secret}).redact("a" * 100 + secret[:15], ["KEY"], cut=True)
    assert "xxxx" not in text


def test_a_secret_is_known_in_any_case_and_encoding() -> None:
    vault = Vault({"KEY": SECRET})
    for form in (*FORMS, quote(SECRET, safe="").lower(), SECRET.upper()):
        assert vault.redact(f"<{form}>", ["KEY"]) == "<[secret KEY]>"
