"""OpenAI-compatible servers, named by a string: every loop and thread, every failure, over a real socket."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError, UnusableReply
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.loopback import serve
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("demo", (("human", "Say $word"),), ("word",))
SAID = {"word": "hi"}
KEY = "sk-test-1234567890"


def script(**changes: Any) -> Any:
    return ScriptedChat(**{"rules": [("Say hi", ["a", "b", "c"])], **changes})


def client(server: Any, **changes: Any) -> Any:
    return ChatOpenAI(model="tiny", base_url=server.base_url, api_key=KEY, **changes)


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return run_sync if request.param == "sync" else asyncio.run


def test_a_name_and_the_environment_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(script()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        model = LanguageModel("openai:tiny")
        reply = run_sync(model.ask(PROMPT, SAID, parse=str))
        assert (reply.value, model.name) == ("a", f"ChatOpenAI 'tiny' at {server.base_url.split('/')[2]}")
        assert (reply.usage["input_tokens"], reply.usage["output_tokens"]) == (2, 1)
        assert server.arrivals[0]["authorization"] == f"Bearer {KEY}"
        assert server.arrivals[0]["body"]["model"] == "tiny"
        assert "seed" not in server.arrivals[0]["body"]


def test_any_number_of_loops_and_threads_may_share_one_model() -> None:
    with serve(script(latency=0.01)) as server:
        model = LanguageModel(client(server))
        failures = []

        def sample() -> Any:
            return model.sample(PROMPT, SAID, n=3, temperature=1.0)

        def worker(entry: Any) -> None:
            try:
                for _ in range(3):
                    assert len(entry(sample())) == 3
            except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
                failures.append(error)

        for entry in (asyncio.run, run_sync, asyncio.run, run_sync):
            worker(entry)
        threads = [threading.Thread(target=worker, args=(entry,)) for entry in (asyncio.run, run_sync) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert failures == []
        assert len(server.arrivals) == 8 * 3 * 3


async def test_inside_a_running_loop_both_ways_work() -> None:
    with serve(script()) as server:
        model = LanguageModel(client(server))
        assert (await model.ask(PROMPT, SAID, parse=str)).value == "a"
        assert run_sync(model.ask(PROMPT, SAID, parse=str)).value == "a"
        assert (await model.ask(PROMPT, SAID, parse=str)).value == "a"


@pytest.mark.parametrize("native", [False, True])
def test_samples_with_logprobs_and_seeds(run: Any, native: Any) -> None:
    with serve(script()) as server:
        model = LanguageModel(client(server))
        samples = run(model.sample(PROMPT, SAID, n=3, temperature=0.7, seeds=[0, 1, 2], logprobs=True, native=native))
        assert [sample.text for sample in samples] == ["a", "b", "c"]
        assert [sample.logprobs for sample in samples] == [
            [{"token": text, "logprob": -0.5, "top": {text: -0.5}}] for text in "abc"
        ]
        assert sum(sample.usage["calls"] for sample in samples) == len(server.arrivals) == (1 if native else 3)
        assert sum(sample.usage["output_tokens"] for sample in samples) == 3
        bodies = [arrival["body"] for arrival in server.arrivals]
        assert all(body["temperature"] == 0.7 and not body.get("stream") for body in bodies)
        assert sorted(body["seed"] for body in bodies) == ([0] if native else [0, 1, 2])


def test_a_server_that_ignores_n_is_asked_singly(run: Any) -> None:
    with serve(script(), most_replies=1) as server:
        samples = run(LanguageModel(client(server)).sample(PROMPT, SAID, n=3, seeds=[0, 1, 2], native=True))
        assert [sample.text for sample in samples] == ["a", "b", "c"]
        assert sum(sample.usage["calls"] for sample in samples) == len(server.arrivals) == 3


def test_calls_overlap_up_to_the_limit(run: Any) -> None:
    with serve(script(latency=0.1)) as server:
        model = LanguageModel(client(server), max_concurrency=4)
        run(model.ask(PROMPT, SAID, parse=str))
        started = time.monotonic()
        run(model.sample(PROMPT, SAID, n=8))
        assert time.monotonic() - started >= 0.2
        assert server.chat.most_in_flight == 4


@pytest.mark.parametrize(
    ("status", "words"), [(400, "HTTP 400"), (401, "API key"), (403, "another model"), (404, "base_url")]
)
def test_lasting_failures_end_at_once_and_say_what_to_do(run: Any, status: Any, words: Any) -> None:
    with serve(script(faults=[{"status": status, "times": None}])) as server:
        with pytest.raises(ModelError, match=words) as caught:
            run(LanguageModel(client(server)).ask(PROMPT, SAID, parse=str))
        assert (caught.value.status, caught.value.transient) == (status, False)
        assert "ChatOpenAI 'tiny'" in str(caught.value)
        assert KEY not in str(caught.value)
        assert len(server.arrivals) == 1


def test_a_rate_limit_is_waited_for_and_the_clients_own_retries_do_not_multiply(run: Any) -> None:
    with serve(script(faults=[{"status": 429, "retry_after": 0.2, "times": 1}])) as server:
        reply = run(LanguageModel(client(server, max_retries=6)).ask(PROMPT, SAID, parse=str))
        first, second = (arrival["at"] for arrival in server.arrivals)
        assert reply.value == "a"
        assert second - first >= 0.2
    with serve(script(faults=[{"status": 500, "retry_after": 0, "times": None}])) as server:
        with pytest.raises(ModelError, match="after 3 tries: HTTP 500"):
            run(LanguageModel(client(server, max_retries=6), attempts=3).ask(PROMPT, SAID, parse=str))
        assert len(server.arrivals) == 3


def test_a_hang_is_a_passing_failure(run: Any) -> None:
    with serve(script(faults=[{"hang": 3.0, "times": 1}])) as server:
        model = LanguageModel(client(server), timeout=0.5, attempts=1)
        started = time.monotonic()
        with pytest.raises(ModelError, match="no reply within") as caught:
            run(model.ask(PROMPT, SAID, parse=str))
        assert caught.value.transient
        assert time.monotonic() - started < 2.5
        assert run(model.ask(PROMPT, SAID, parse=str)).value == "a"


def test_a_dead_endpoint_is_named(run: Any) -> None:
    with serve(script()) as server:
        model = LanguageModel(client(server), attempts=2)
    with pytest.raises(
        ModelError, match=r"tiny' at 127\.0\.0\.1:\d+ failed after 2 tries: OpenAIConnectionError: .*can be reached"
    ) as caught:
        run(model.ask(PROMPT, SAID, parse=str))
    assert caught.value.transient


def test_a_client_that_streams_by_itself_does_not_stream_here(run: Any) -> None:
    with serve(script()) as server:
        reply = run(LanguageModel(client(server, streaming=True)).ask(PROMPT, SAID, parse=str))
        assert reply.value == "a"
        assert reply.usage["output_tokens"] == 1
        assert not server.arrivals[0]["body"].get("stream")


def test_the_server_streams_to_others() -> None:
    with serve(ScriptedChat(rules=[("", "one two three")])) as server:
        chunks = list(client(server, stream_usage=True).stream("Say hi"))
        assert "".join(chunk.text for chunk in chunks).split() == ["one", "two", "three"]
        (usage,) = (chunk.usage_metadata for chunk in chunks if chunk.usage_metadata)
        assert usage["output_tokens"] == 3


def test_the_callers_client_keeps_its_retries() -> None:
    with serve(script(faults=[{"status": 500, "retry_after": 0}])) as server:
        chat = client(server, max_retries=1)
        LanguageModel(chat)
        assert chat.invoke("Say hi").text == "a"
        assert chat.max_retries == 1


def test_no_key_and_no_package_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        LanguageModel("openai:tiny")
    with pytest.raises(MissingExtra, match="langchain-anthropic"):
        LanguageModel("anthropic:tiny")
    with pytest.raises(InvalidInput, match="provider:model"):
        LanguageModel("tiny-unknown")


def test_an_unusable_reply_is_counted_over_the_wire(run: Any) -> None:
    def refuse(text: Any) -> None:
        raise UnusableReply("never good", reply=text)

    with serve(script(rules=[("", "x")])) as server:
        with pytest.raises(UnusableReply) as caught:
            run(LanguageModel(client(server)).ask(PROMPT, SAID, parse=refuse))
        assert caught.value.usage is not None
        assert caught.value.usage["calls"] == len(server.arrivals) == 2


async def test_nothing_blocks_the_callers_loop() -> None:
    blockbuster = pytest.importorskip("blockbuster")
    with serve(script()) as server:
        model = LanguageModel(client(server))
        with blockbuster.blockbuster_ctx("langgraph_evidence.llm"):
            assert (await model.ask(PROMPT, SAID, parse=str)).value == "a"
            assert len(await model.sample(PROMPT, SAID, n=3)) == 3


def test_connections_of_a_loop_end_with_it() -> None:
    with serve(script()) as server:
        model = LanguageModel(client(server))
        for _ in range(3):
            asyncio.run(model.ask(PROMPT, SAID, parse=str))
        assert not model._provider._loops._opened
